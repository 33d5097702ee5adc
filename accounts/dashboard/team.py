"""Team pages: the members of an account, their roles, and invitations."""

from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.people import ROLES, InvitationForm, MembershipForm
from accounts.models import Invitation, Membership, Role, Venue
from accounts.tenancy import team
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, Access, Right
from framework.forms.domain_errors import errors_as_messages, errors_on_form
from framework.public_ids import decode

MAX_MEMBERS = 200
# The columns of the table of roles: the label of a page in the menu, and its right.
PAGES = (
    ("Order board", Right.ORDERS),
    ("Reservations", Right.RESERVATIONS),
    ("Guests", Right.GUESTS),
    ("Menu", Right.MENU),
    ("Sales", Right.SALES),
    ("Settings", Right.VENUE),
    ("API keys", Right.DEVELOPERS),
    ("Data service", Right.DATA),
    ("Team", Right.TEAM),
    ("Account", Right.ACCOUNT),
)


def list_pages(role: Role) -> Iterator[str]:
    """Yield for each of PAGES whether the role may use it: `all`, `sold_out` for a part of the menu, or empty."""
    rights = RIGHTS_BY_ROLE[role]
    for _label, right in PAGES:
        if right in rights:
            yield "all"
        else:
            yield "sold_out" if right == Right.MENU and Right.SOLD_OUT in rights else ""


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def list_team(request: PageRequest) -> HttpResponse:
    """List members and invitations, and invite."""
    access = request.access
    authority, venues = team.get_authority(access), list_assignable_venues(access)
    form = InvitationForm(request.POST or None, authority=authority, venues=venues)
    if request.method == "POST" and form.is_valid():
        with errors_on_form(form):
            invitation = team.invite(access, now=timezone.now(), **form.cleaned_data)
            text = _("The invitation was sent to %(email)s.") % {"email": invitation.email}
            messages.success(request, text, extra_tags="mail-sent")
            # The message is at the top, and the form's address ends with #invite.
            return redirect(f"{resolve_url('team', venue=access.venue.public_id)}#top")
    members = Membership.objects.filter(account=access.account).select_related("user").prefetch_related("venues")
    invitations = Invitation.objects.filter(account=access.account, accepted_at=None, withdrawn_at=None)
    rows = [
        (member, authority.covers(member.role, member.venues.all()))
        for member in members.order_by("user__email", "pk")[:MAX_MEMBERS]
    ]
    context = {
        "members": rows,
        "invitations": [
            (row, authority.covers(row.role, row.venues.all()), row.expires_at <= timezone.now())
            for row in invitations.prefetch_related("venues").order_by("-created_at", "pk")
        ],
        "form": form,
        "limit": MAX_MEMBERS if len(rows) == MAX_MEMBERS else None,
        "roles": [(role.label, text, list(list_pages(role))) for role, text in ROLES.items()],
        "pages": [pgettext("menu", label) for label, _right in PAGES],
        "is_small": len(venues) < 2,
    }
    return render(request, "dashboard/team.html", context, status=400 if request.method == "POST" else 200)


@page(Right.TEAM, section="team", methods=("GET", "HEAD", "POST"))
def edit_member(request: PageRequest, membership: int) -> HttpResponse:
    """Change the role and the restaurants of a member."""
    access = request.access
    rows = Membership.objects.filter(account=access.account).select_related("user").prefetch_related("venues")
    row = get_object_or_404(rows.filter(pk=membership))
    authority, venues = team.get_authority(access), list_assignable_venues(access)
    initial = {"role": row.role, "access": "selected" if row.is_limited else "all", "venues": row.venues.all()}
    form = MembershipForm(request.POST or None, authority=authority, venues=venues, initial=initial)
    if request.method == "POST" and form.is_valid():
        with errors_on_form(form):
            changed = team.change_membership(access, row.pk, now=timezone.now(), **form.cleaned_data)
            text = _("The role of %(email)s is now: %(role)s.")
            messages.success(request, text % {"email": row.user.email, "role": changed.get_role_display()})
            return redirect("team", venue=access.venue.public_id)
    context = {
        "form": form,
        "member": row,
        "can_edit": authority.covers(row.role, row.venues.all()),
        "is_me": row.user_id == access.user.pk,
    }
    return render(request, "dashboard/team_member.html", context, status=400 if request.method == "POST" else 200)


@page(Right.TEAM, section="team", methods=("POST",))
def remove_member(request: PageRequest, membership: int) -> HttpResponse:
    with errors_as_messages(request):
        member = team.remove_member(request.access, membership, now=timezone.now())
        messages.success(request, _("%(email)s was removed from the team.") % {"email": member.user.email})
    return redirect("team", venue=request.access.venue.public_id)


@page(Right.TEAM, section="team", methods=("POST",))
def resend_invitation(request: PageRequest, invitation: str) -> HttpResponse:
    row = get_object_or_404(Invitation, account=request.access.account, pk=decode("inv", invitation))
    with errors_as_messages(request):
        team.resend_invitation(request.access, row.pk, now=timezone.now())
        text = _("A new link was sent to %(email)s.") % {"email": row.email}
        messages.success(request, text, extra_tags="mail-sent")
    return redirect("team", venue=request.access.venue.public_id)


@page(Right.TEAM, section="team", methods=("POST",))
def withdraw_invitation(request: PageRequest, invitation: str) -> HttpResponse:
    """Cancel an invitation."""
    row = get_object_or_404(Invitation, account=request.access.account, pk=decode("inv", invitation))
    with errors_as_messages(request):
        team.withdraw_invitation(request.access, row.pk, now=timezone.now())
        messages.success(request, _("The invitation of %(email)s was cancelled.") % {"email": row.email})
    return redirect("team", venue=request.access.venue.public_id)


def list_assignable_venues(access: Access) -> list[Venue]:
    """The account's venues that the signed-in user may assign."""
    if access.role is None:
        return list(access.account.venues.by_name())
    return list(Venue.objects.for_member(access.user).filter(account=access.account).by_name())
