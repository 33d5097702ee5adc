"""Team pages: the members of an account, their roles, and invitations."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.people import InviteForm, PartForm
from accounts.models import Invitation, Membership, Venue
from accounts.tenancy import team
from accounts.tenancy.permissions import Access, Right
from framework.errors import ApiError
from framework.public_ids import decode

SHOWN = 200


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def listed(request: PageRequest) -> HttpResponse:
    """List members and invitations, and invite."""
    access = request.access
    reach, venues = team.reach_of(access), venues_of(access)
    form = InviteForm(request.POST or None, reach=reach, venues=venues)
    if request.method == "POST" and form.is_valid():
        try:
            made = team.invite(access, now=timezone.now(), **form.cleaned_data)
        except ApiError as refusal:
            form.blame(refusal)
        else:
            messages.success(request, f"The invitation was sent to {made.email}.")
            return redirect("team", venue=access.venue.public_id)
    members = (
        Membership.objects.filter(account=access.account)
        .select_related("user")
        .prefetch_related("venues")
        .order_by("user__email", "pk")
    )
    invitations = (
        Invitation.objects.filter(account=access.account, accepted_at=None, withdrawn_at=None)
        .prefetch_related("venues")
        .order_by("-created_at", "pk")
    )
    shown = [(member, can_edit(reach, member)) for member in members[:SHOWN]]
    return render(
        request,
        "dashboard/team.html",
        {
            "members": shown,
            "invitations": [(row, can_edit(reach, row), row.expires_at <= timezone.now()) for row in invitations],
            "form": form,
            "limit": SHOWN if len(shown) == SHOWN else None,
            "is_small": len(venues) < 2,
        },
        status=400 if request.method == "POST" else 200,
    )


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def member(request: PageRequest, membership: int) -> HttpResponse:
    """Change the role and the restaurants of a member."""
    access = request.access
    rows = Membership.objects.filter(account=access.account).select_related("user").prefetch_related("venues")
    theirs = rows.filter(pk=membership).first()
    if theirs is None:
        raise Http404
    reach, venues = team.reach_of(access), venues_of(access)
    first = {"role": theirs.role, "venues": theirs.venues.all()}
    form = PartForm(request.POST or None, reach=reach, venues=venues, initial=first)
    if request.method == "POST" and form.is_valid():
        try:
            team.change(access, theirs.pk, **form.cleaned_data)
        except ApiError as refusal:
            form.blame(refusal)
        else:
            messages.success(request, f"{theirs.user.email} is now {form.role_label()}.")
            return redirect("team", venue=access.venue.public_id)
    return render(
        request,
        "dashboard/team_member.html",
        {
            "form": form,
            "member": theirs,
            "can_edit": can_edit(reach, theirs),
            "is_me": theirs.user_id == access.user.pk,
        },
        status=400 if request.method == "POST" else 200,
    )


@page(Right.TEAM, section="team", methods=("POST",))
def remove(request: PageRequest, membership: int) -> HttpResponse:
    """Remove a member."""
    return done(
        request,
        lambda: f"{team.remove(request.access, membership, now=timezone.now()).user.email} was removed from the team.",
    )


@page(Right.TEAM, section="team", methods=("POST",))
def resend(request: PageRequest, invitation: str) -> HttpResponse:
    """Resend an invitation."""
    key = decode("inv", invitation)
    if key is None:
        raise Http404
    return done(
        request, lambda: f"A new link was sent to {team.resend(request.access, key, now=timezone.now()).email}."
    )


@page(Right.TEAM, section="team", methods=("POST",))
def withdraw(request: PageRequest, invitation: str) -> HttpResponse:
    """Cancel an invitation."""
    key = decode("inv", invitation)
    if key is None:
        raise Http404
    return done(
        request,
        lambda: f"The invitation of {team.withdraw(request.access, key, now=timezone.now()).email} was cancelled.",
    )


def done(request: PageRequest, act: Callable[[], str]) -> HttpResponse:
    """Run the action, add its message or its error, and redirect to the team page."""
    try:
        messages.success(request, act())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    return redirect("team", venue=request.access.venue.public_id)


def can_edit(reach: team.Reach, one: Any) -> bool:
    """Whether the signed-in user may change this member or invitation."""
    return reach.covers(one.role, {venue.pk for venue in one.venues.all()})


def venues_of(access: Access) -> list[Venue]:
    """The account's venues that the signed-in user may assign."""
    if access.role is None:
        return list(access.account.venues.order_by("is_sandbox", "name", "id"))
    return list(Venue.objects.worked_at_by(access.user).filter(account=access.account).by_name())
