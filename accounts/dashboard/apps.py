"""Apps pages: what has access to a restaurant by OAuth, and the apps that the account has registered."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Max, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.api_keys import one_time_secrets
from accounts.dashboard.api_keys import SCOPE_LABELS
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import OAuthApp, OAuthGrant
from accounts.models.oauth import APP_PREFIX, GRANT_PREFIX
from accounts.oauth import registration
from accounts.oauth.redirect_uris import MAX_LENGTH, MAX_URIS
from accounts.oauth.resources import issuer
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.forms.domain_errors import errors_on_form
from framework.public_ids import decode

PAGE_SIZE = 50


class AppForm(forms.Form):
    """Name, redirect URIs and own scopes of a new app."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=100, help_text=gettext_lazy("People see it when they grant access")
    )
    redirect_uris = forms.CharField(
        label=gettext_lazy("Redirect URIs"),
        required=False,
        max_length=MAX_URIS * (MAX_LENGTH + 2),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("One in a line: where people return to after they have granted access"),
    )
    own_scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Access of its own, to all restaurants of this account"),
        choices=[(scope.value, format_lazy("{} ({})", label, scope.value)) for scope, label in SCOPE_LABELS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=gettext_lazy("Without a person, by client credentials"),
    )


def list_grants(request: PageRequest) -> QuerySet[OAuthGrant]:
    """Return the active grants of people that reach this restaurant."""
    venue = request.access.venue
    here = Q(venue=venue) | Q(venue=None)
    rows = OAuthGrant.objects.active(timezone.now()).filter(here, account=venue.account, user__isnull=False)
    rows = rows.filter(tokens__isnull=False)
    # Ids are in the order of their creation.
    return rows.select_related("app", "user", "venue").distinct().order_by("-pk")


def list_own_apps(request: PageRequest) -> QuerySet[OAuthApp]:
    """Return the apps of the account that it has not removed."""
    return OAuthApp.objects.filter(account=request.access.account, disabled_at=None)


def redirect_to_secret(request: PageRequest, app: OAuthApp, secret: str) -> HttpResponse:
    """Redirect to the page that shows the secret, once, in this session only."""
    one_time_secrets.store(request, secret, of=app.public_id, now=timezone.now())
    return redirect("app-secret", venue=request.access.venue.public_id, app=app.public_id)


def get_own_app(request: PageRequest, app: str) -> OAuthApp:
    """Return the account's app with this public id. Raises Http404."""
    return get_object_or_404(list_own_apps(request), account=request.access.account, pk=decode(APP_PREFIX, app))


@page(Right.DEVELOPERS, section="apps")
def list_apps(request: PageRequest) -> HttpResponse:
    """List what has access, the newest first, and the apps of the account. Two queries besides those of the layout.

    `before` is the last grant of the page before; 400 for what is no id.
    """
    text = request.GET.get("before", "")
    before = decode(GRANT_PREFIX, text)
    rows = list_grants(request)
    found = list((rows.filter(pk__lt=before) if before else rows)[: PAGE_SIZE + 1])
    context: dict[str, Any] = {
        "grants": found[:PAGE_SIZE],
        "older": found[PAGE_SIZE - 1].public_id if len(found) > PAGE_SIZE else None,
        "is_later": bool(text),
    }
    if request.access.may_view(Right.ACCOUNT):
        own = list_own_apps(request).annotate(used_at=Max("grants__last_used_at"))
        context["own_apps"] = own.order_by("-created_at", "-pk")
    return render(request, "accounts/apps.html", context, status=400 if text and before is None else 200)


@page(Right.DEVELOPERS, section="apps", methods=("GET", "HEAD", "POST"))
def revoke_grant(request: PageRequest, grant: str) -> HttpResponse:
    """Ask for confirmation, then revoke what was granted."""
    venue, now = request.access.venue, timezone.now()
    rows = OAuthGrant.objects.filter(Q(venue=venue) | Q(venue=None), user__isnull=False)
    related = rows.select_related("app", "user", "venue")
    row = get_object_or_404(related, account=venue.account, pk=decode(GRANT_PREFIX, grant))
    if request.method == "POST":
        name = {"app": row.app.name}
        if row.revoke(now=now):
            messages.success(request, _("The access of %(app)s was revoked.") % name)
        else:
            messages.info(request, _("The access of %(app)s was already revoked.") % name)
        return redirect("apps", venue=venue.public_id)
    return render(request, "accounts/app_revoke.html", {"grant": row})


@page(Right.ACCOUNT, section="apps", methods=("GET", "HEAD", "POST"))
def register_app(request: PageRequest) -> HttpResponse:
    """Register an app of the account, and redirect to the page that shows its secret."""
    form = AppForm(request.POST or None)
    if form.is_valid():
        with errors_on_form(form, "redirect_uris"):
            app, secret = registration.register_app(
                request.access.account,
                name=form.cleaned_data["name"],
                uris=form.cleaned_data["redirect_uris"].split(),
                own_scopes=form.cleaned_data["own_scopes"],
            )
            return redirect_to_secret(request, app, secret)
    return render(request, "accounts/app_new.html", {"form": form}, status=400 if form.errors else 200)


@page(Right.ACCOUNT, section="apps")
def show_secret(request: PageRequest, app: str) -> HttpResponse:
    """Show a new secret once; a second visit shows that it was already shown."""
    row = get_own_app(request, app)
    context = {
        "app": row,
        "secret": one_time_secrets.take(request, of=row.public_id, now=timezone.now()),
        "issuer": issuer(),
        "token_url": public_url("/oauth/token"),
    }
    return render(request, "accounts/app_secret.html", context)


@page(Right.ACCOUNT, section="apps", methods=("POST",))
def renew_secret(request: PageRequest, app: str) -> HttpResponse:
    """Replace the secret of an app at once, and redirect to the page that shows the new one."""
    row = get_own_app(request, app)
    secret = row.set_secret()
    row.save(update_fields=["secret_digest", "secret_end"])
    return redirect_to_secret(request, row, secret)


@page(Right.ACCOUNT, section="apps", methods=("GET", "HEAD", "POST"))
def remove_app(request: PageRequest, app: str) -> HttpResponse:
    """Ask for confirmation, then disable the app with all that was granted to it."""
    row = get_own_app(request, app)
    if request.method == "POST":
        registration.disable_app(row, now=timezone.now())
        messages.success(request, _("%(app)s was removed. Its tokens no longer work.") % {"app": row.name})
        return redirect("apps", venue=request.access.venue.public_id)
    return render(request, "accounts/app_remove.html", {"app": row})
