"""The pages of the signed-in user: name, teams, deletion."""

from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.lifecycle import closure
from accounts.models import Membership, User, Venue
from accounts.sign_in.language_middleware import language_of
from accounts.tenancy import team
from framework.forms.domain_errors import errors_as_messages
from framework.languages import list_languages


class ProfileForm(forms.ModelForm[User]):
    """The name of a user, and the language of the dashboard."""

    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        help_text=gettext_lazy("For the dashboard and our emails"),
    )

    class Meta:
        model = User
        fields = ["first_name", "last_name", "language"]
        labels = {"first_name": gettext_lazy("First name"), "last_name": gettext_lazy("Last name")}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Each language in its own.
        names = [(code, name) for code, name in list_languages() if code in settings.DASHBOARD_LANGUAGES]
        self.fields["language"].choices = [("", _("As in the browser")), *names]  # type: ignore[attr-defined]  # a ChoiceField


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    """Show and save the name and the language, and list the teams."""
    user = cast("User", request.user)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        with translation.override(language_of(request)):
            messages.success(request, _("Profile saved."))
        return redirect("profile")
    context = {
        "form": form,
        "memberships": list_memberships(user),
        "venues": Venue.objects.for_member(user).by_name(),
    }
    return render(request, "dashboard/profile.html", context, status=400 if request.method == "POST" else 200)


@never_cache
@login_required
@require_http_methods(["POST"])
def leave_team(request: HttpRequest, membership: int) -> HttpResponse:
    user = cast("User", request.user)
    row = list_memberships(user).filter(pk=membership).first()
    if row:
        with errors_as_messages(request):
            team.leave(row.account, user, now=timezone.now())
            messages.success(request, _("You have left %(account)s.") % {"account": row.account.name})
    return redirect("profile")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def delete_user(request: HttpRequest) -> HttpResponse:
    """Delete the user after confirmation."""
    user = cast("User", request.user)
    if request.method != "POST":
        return render(request, "dashboard/delete_profile.html", {"memberships": list_memberships(user)})
    with errors_as_messages(request):
        closure.delete_user(user, now=timezone.now())
        logout(request)
        messages.success(request, _("Your account was deleted."))
    return redirect("profile" if request.user.is_authenticated else "account_login")


def list_memberships(user: User) -> QuerySet[Membership]:
    """The user's memberships in open accounts."""
    memberships = Membership.objects.filter(user=user, account__closed_at=None).select_related("account")
    return memberships.order_by("account__name", "pk")
