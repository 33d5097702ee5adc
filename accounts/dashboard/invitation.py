"""The page of an invitation link: join a team with an existing or a new user account."""

from typing import cast

from allauth.account.internal.flows.signup import complete_signup
from allauth.core import ratelimit
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.forms.people import PasswordForm
from accounts.models import Invitation, Role, User, Venue
from accounts.tenancy import team
from framework.forms.domain_errors import errors_as_messages, errors_on_form


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def show_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, and accept it."""
    try:
        invitation = team.find_invitation(token, now=timezone.now())
    except team.InvitationInvalid as refusal:
        return render(request, "dashboard/invitation_expired.html", {"reason": refusal.message}, status=404)
    if request.user.is_authenticated:
        return accept_as_user(request, invitation, token)
    return accept_as_new_user(request, invitation, token)


def accept_as_user(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    """Accept as a signed-in user."""
    user = cast("User", request.user)
    if request.method == "POST":
        with errors_as_messages(request):
            team.accept(token, user, now=timezone.now())
            return redirect_to_dashboard(request, invitation)
    return render_page(request, invitation, "signed_in" if team.is_addressed_to(invitation, user) else "other_user")


def accept_as_new_user(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    """Accept as a signed-out user: ask for a password and create the user."""
    if team.has_user(invitation):
        return render_page(request, invitation, "has_account")
    form = PasswordForm(request.POST or None, user=User(email=invitation.email))
    if request.method != "POST":
        return render_page(request, invitation, "new", form=form)
    if not ratelimit.consume(request, action="signup"):
        return cast("HttpResponse", ratelimit.respond_429(request))
    if form.is_valid():
        with errors_on_form(form):
            user = team.accept_as_new_user(token, password=form.cleaned_data["password"], now=timezone.now())
            complete_signup(request, user=user, redirect_url=resolve_url("dashboard"))
            return redirect_to_dashboard(request, invitation)
    return render_page(request, invitation, "new", form=form, status=400)


def redirect_to_dashboard(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """Open a venue of the joined team, rather than the last one of another team."""
    user = cast("User", request.user)
    if venue := Venue.objects.for_member(user).filter(account=invitation.account).by_name().first():
        user.remember_venue(venue)
    messages.success(request, _("You have joined the team of %(account)s.") % {"account": invitation.account.name})
    return redirect("dashboard")


def render_page(
    request: HttpRequest, invitation: Invitation, case: str, *, form: PasswordForm | None = None, status: int = 200
) -> HttpResponse:
    """Render the page for one of the cases `signed_in`, `other_user`, `has_account` and `new`."""
    context = {"invitation": invitation, "case": case, "form": form, "role": Role(invitation.role).label}
    return render(request, "dashboard/invitation.html", context, status=status)
