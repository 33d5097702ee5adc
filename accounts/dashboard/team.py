"""Team pages: the members of an account, their roles, and invitations."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.people import InvitationForm, MembershipForm
from accounts.models import Invitation, Membership, Venue
from accounts.tenancy import team
from accounts.tenancy.permissions import Access, Right
from framework.errors import ApiError
from framework.public_ids import decode

MAX_MEMBERS = 200


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def list_team(request: PageRequest) -> HttpResponse:
    """List members and invitations, and invite."""
    access = request.access
    authority, venues = team.get_authority(access), list_assignable_venues(access)
    form = InvitationForm(request.POST or None, authority=authority, venues=venues)
    if request.method == "POST" and form.is_valid():
        try:
            invitation = team.invite(access, now=timezone.now(), **form.cleaned_data)
        except ApiError as refusal:
            form.add_refusal(refusal)
        else:
            messages.success(request, f"The invitation was sent to {invitation.email}.")
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
    rows = [(member, can_edit(authority, member)) for member in members[:MAX_MEMBERS]]
    return render(
        request,
        "dashboard/team.html",
        {
            "members": rows,
            "invitations": [(row, can_edit(authority, row), row.expires_at <= timezone.now()) for row in invitations],
            "form": form,
            "limit": MAX_MEMBERS if len(rows) == MAX_MEMBERS else None,
            "is_small": len(venues) < 2,
        },
        status=400 if request.method == "POST" else 200,
    )


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def edit_member(request: PageRequest, membership: int) -> HttpResponse:
    """Change the role and the restaurants of a member."""
    access = request.access
    rows = Membership.objects.filter(account=access.account).select_related("user").prefetch_related("venues")
    row = rows.filter(pk=membership).first()
    if row is None:
        raise Http404
    authority, venues = team.get_authority(access), list_assignable_venues(access)
    initial = {"role": row.role, "venues": row.venues.all()}
    form = MembershipForm(request.POST or None, authority=authority, venues=venues, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            team.change_membership(access, row.pk, **form.cleaned_data)
        except ApiError as refusal:
            form.add_refusal(refusal)
        else:
            messages.success(request, f"{row.user.email} is now {form.role_label()}.")
            return redirect("team", venue=access.venue.public_id)
    return render(
        request,
        "dashboard/team_member.html",
        {
            "form": form,
            "member": row,
            "can_edit": can_edit(authority, row),
            "is_me": row.user_id == access.user.pk,
        },
        status=400 if request.method == "POST" else 200,
    )


@page(Right.TEAM, section="team", methods=("POST",))
def remove_member(request: PageRequest, membership: int) -> HttpResponse:
    """Remove a member."""
    return run_action(
        request,
        lambda: (
            f"{team.remove_member(request.access, membership, now=timezone.now()).user.email}"
            " was removed from the team."
        ),
    )


@page(Right.TEAM, section="team", methods=("POST",))
def resend_invitation(request: PageRequest, invitation: str) -> HttpResponse:
    """Resend an invitation."""
    key = decode("inv", invitation)
    if key is None:
        raise Http404
    return run_action(
        request,
        lambda: f"A new link was sent to {team.resend_invitation(request.access, key, now=timezone.now()).email}.",
    )


@page(Right.TEAM, section="team", methods=("POST",))
def withdraw_invitation(request: PageRequest, invitation: str) -> HttpResponse:
    """Cancel an invitation."""
    key = decode("inv", invitation)
    if key is None:
        raise Http404
    return run_action(
        request,
        lambda: (
            f"The invitation of {team.withdraw_invitation(request.access, key, now=timezone.now()).email}"
            " was cancelled."
        ),
    )


def run_action(request: PageRequest, action: Callable[[], str]) -> HttpResponse:
    """Run the action, add its message or its error, and redirect to the team page."""
    try:
        messages.success(request, action())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    return redirect("team", venue=request.access.venue.public_id)


def can_edit(authority: team.TeamAuthority, row: Membership | Invitation) -> bool:
    """Whether the signed-in user may change this member or invitation."""
    return authority.covers(row.role, {venue.pk for venue in row.venues.all()})


def list_assignable_venues(access: Access) -> list[Venue]:
    """The account's venues that the signed-in user may assign."""
    if access.role is None:
        return list(access.account.venues.order_by("is_sandbox", "name", "id"))
    return list(Venue.objects.for_member(access.user).filter(account=access.account).by_name())
