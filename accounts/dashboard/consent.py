"""The consent page: a member grants an app access to a restaurant, or to all, or denies it."""

from collections.abc import Sequence
from typing import Any, cast

from authlib.oauth2 import OAuth2Error
from csp.decorators import csp_update
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from accounts.dashboard.api_keys import SCOPE_LABELS
from accounts.models import Account, Membership, OAuthApp, User, Venue
from accounts.models.oauth import DATA_SCOPE
from accounts.oauth import server
from accounts.oauth.access import DATA_ROLES, GRANTING_ROLES
from accounts.oauth.resources import Resource, host_of
from accounts.oauth.views import error_response
from framework.api.rate_limits.counter import hash_bucket
from framework.api.rate_limits.middleware import Allowance, count_call, set_rate_headers
from framework.db import actor
from framework.public_ids import encode

ACCOUNT = "acc"
LABELS = {str(scope): label for scope, label in SCOPE_LABELS.items()} | {
    DATA_SCOPE: gettext_lazy("Use the restaurant data service on your account's plan and linked wallets"),
}


class ConsentForm(forms.Form):
    """What the app gets access to: a restaurant, or all of an account."""

    access = forms.ChoiceField(label=gettext_lazy("Access to"))

    def __init__(self, *args: Any, choices: "Sequence[Choice]", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.found = {choice.value: choice for choice in choices}
        field = cast("forms.ChoiceField", self.fields["access"])
        field.choices = [(choice.value, choice.label) for choice in choices]

    @property
    def choice(self) -> "Choice":
        return self.found[self.cleaned_data["access"]]


class Choice:
    """A venue, or an account with all of its venues that the member manages."""

    def __init__(self, account: Account, venue: Venue | None, *, label: str) -> None:
        self.account, self.venue, self.label = account, venue, label
        self.value = venue.public_id if venue else encode(ACCOUNT, account.pk)


def list_choices(user: User, resource: Resource) -> list[Choice]:
    """Return what the user may grant: restaurants first, then whole accounts. Three queries at most.

    Of the data service only accounts: it knows no restaurants of an account.
    """
    rows = Membership.objects.filter(user=user, role__in=GRANTING_ROLES, account__closed_at=None)
    memberships = list(rows.select_related("account").order_by("account__name", "pk"))
    if resource != Resource.MANAGEMENT:
        return [
            Choice(membership.account, None, label=membership.account.name)
            for membership in memberships
            if not membership.is_limited and membership.role in DATA_ROLES
        ]
    limited = [membership.pk for membership in memberships if membership.is_limited]
    whole = [membership.account_id for membership in memberships if not membership.is_limited]
    venues = list(
        Venue.objects.select_related("account")
        .filter(Q(account__in=whole) | Q(memberships__in=limited))
        .distinct()
        .by_name()
    )
    accounts = [
        membership.account
        for membership in memberships
        if any(venue.account_id == membership.account_id for venue in venues)
    ]
    sandbox = _("%(venue)s (sandbox)")
    return [
        *(
            Choice(venue.account, venue, label=sandbox % {"venue": venue.name} if venue.is_sandbox else venue.name)
            for venue in venues
        ),
        *(
            Choice(account, None, label=_("All restaurants of %(account)s") % {"account": account.name})
            for account in accounts
        ),
    ]


METHODS = ("GET", "HEAD", "POST")
# Of one person, whatever app asks: each may make us read a document, and each consent stores a grant.
POLICY = "oauth-authorize"
MAX_REQUESTS = 60
WINDOW_S = 60


@never_cache
def authorize(request: HttpRequest) -> HttpResponse:
    """The authorization endpoint. The request is validated from its query string again when the form is submitted."""
    if request.method not in METHODS:
        return error_response("invalid_request", "Send GET or POST.", status=405, Allow=", ".join(METHODS))
    # Before the request is judged: without a person nothing redirects, and no document is read.
    user = request.user
    if not user.is_authenticated:
        return redirect_to_login(request.get_full_path(), resolve_url("account_login"))
    usage = count_call(POLICY, Allowance(hash_bucket(str(user.pk)), MAX_REQUESTS, WINDOW_S))
    if usage.count > usage.limit:
        wait_s = max(usage.wait_s, 1)
        busy = render(request, "accounts/consent_busy.html", {"wait_s": wait_s}, status=429)
        busy["Retry-After"] = str(wait_s)
        set_rate_headers(busy, usage)
        return busy
    try:
        grant = server.validate_authorization(request)
    except OAuth2Error as error:
        return show_error(request, error)
    asked = grant.request
    form = ConsentForm(request.POST if request.method == "POST" else None, choices=list_choices(user, asked.resource))
    if request.method == "POST" and request.POST.get("decision") != "allow":
        return server.answer_authorization(grant, None)
    if form.is_valid():
        chosen = form.choice
        with actor.acting_as(f"staff:{user.email}"):
            return server.answer_authorization(
                grant, server.Choice(user=user, account=chosen.account, venue=chosen.venue)
            )
    app: OAuthApp = asked.client
    context = {
        "form": form,
        "app": app,
        "host": host_of(app.document_url) if app.document_url else "",
        "target": host_of(asked.payload.redirect_uri),
        "scopes": [LABELS[scope] for scope in asked.scopes],
        "is_data": asked.resource != Resource.MANAGEMENT,
    }
    status = 400 if form.errors else 200
    response = render(request, "accounts/consent.html", context, status=status)
    # Browsers apply the directive to where a submitted form is redirected, and on from there.
    scheme = asked.payload.redirect_uri.partition(":")[0]
    allow_target = csp_update({"form-action": ["https:", f"{scheme}:"]})
    return cast("HttpResponse", allow_target(lambda _request: response)(request))


def show_error(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    """Tell the app by redirect if an account has registered it. Otherwise the person decides whether to go there.

    Anybody may register an app: our address must not be one that leads to any other.
    """
    uri = error.redirect_uri
    client = server.find_stored_client(request.GET.get("client_id", "")) if uri else None
    if client is not None and client.kind == OAuthApp.Kind.REGISTERED:
        return server.redirect_error(error)
    context = {
        "reason": error.description or error.error,
        "error": error.error,
        "back": server.redirect_error(error)["Location"] if uri else "",
        "target": host_of(uri) if uri else "",
    }
    return render(request, "accounts/consent_error.html", context, status=400)
