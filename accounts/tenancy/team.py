"""Who works for an account: invitations, roles, and how people come and go.

Whatever changes the team holds the account's row locked meanwhile, and looks again at what the one who changes it may
do: of two owners who remove each other at once, one wins.
"""

import hashlib
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import mail_outbox
from accounts.models import Account, Invitation, Membership, Role, User, Venue
from accounts.tenancy.permissions import RIGHTS_OF, Access, Right
from framework.api.urls import public_url
from framework.errors import InvalidRequest

KEPT = timedelta(days=7)
# A mail that was sent again a moment ago is on its way; and nobody sends a stranger hundreds.
PAUSE = timedelta(minutes=1)
OPEN_AT_ONCE = 50
TOKEN_BYTES = 32

TEXT = """\
Hello,

{who} invites you to join the team of {account} on Tablewire as {role}:

    {link}

The link works once, for seven days. If you do not expect this invitation, you can ignore this email.
"""


class NotYours(InvalidRequest):
    """What is asked for is beyond what the one who asks may do."""


class LastOwner(InvalidRequest):
    """The account would be nobody's."""


class AlreadyThere(InvalidRequest):
    """They are members, or an invitation to them is open."""


class InvitationOver(InvalidRequest):
    """It was accepted or withdrawn, or its time is up; or it never was."""


class NotForYou(InvalidRequest):
    """It was sent to another address than that of the one who follows it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far somebody's word goes in a team. `venues` is None where it goes for all; so it is with our own staff."""

    is_owner: bool
    venues: frozenset[UUID] | None

    def roles(self) -> list[Role]:
        """What they may make others."""
        return [role for role in Role if self.is_owner or role != Role.OWNER]

    def covers(self, role: str, venues: Collection[UUID]) -> bool:
        """Whether they may give this part to somebody, or take it away. No venues: all of them."""
        if role not in self.roles():
            return False
        return self.venues is None or (bool(venues) and self.venues.issuperset(venues))


def reach_of(access: Access) -> Reach:
    """How far the word of the one at work goes now. Two queries. Raises NotYours where they lead nobody."""
    if access.role is None:
        return Reach(is_owner=True, venues=None)
    mine = Membership.objects.filter(account=access.account, user=access.user).first()
    if mine is None or Right.TEAM not in RIGHTS_OF[Role(mine.role)]:
        raise NotYours("You no longer manage this team.")
    venues = frozenset(mine.venues.values_list("pk", flat=True))
    return Reach(is_owner=is_owner(mine), venues=venues if mine.is_limited else None)


def invite(access: Access, *, email: str, role: str, venues: Iterable[Venue], now: datetime) -> Invitation:
    """Mail somebody a link that makes them a member. `venues` empty: of all.

    Raises NotYours, AlreadyThere.
    """
    email, chosen = email.strip().lower(), list(venues)
    with transaction.atomic():
        account = hold(access.account.pk)
        check(reach_of(access), account, role, chosen)
        if Membership.objects.filter(account=account, user__email__iexact=email).exists():
            raise AlreadyThere(f"{email} is already a member of the team.", param="email")
        waiting = Invitation.objects.filter(account=account, accepted_at=None, withdrawn_at=None)
        waiting.filter(expires_at__lte=now).update(withdrawn_at=now)
        if waiting.filter(email__iexact=email).exists():
            raise AlreadyThere(f"{email} is already invited. You can resend the invitation.", param="email")
        if waiting.count() >= OPEN_AT_ONCE:
            raise AlreadyThere(f"There are {OPEN_AT_ONCE} open invitations. Cancel some first.", param="email")
        token = secrets.token_urlsafe(TOKEN_BYTES)
        invitation = Invitation.objects.create(
            account=account,
            email=email,
            role=role,
            is_limited=bool(chosen),
            invited_by=access.user,
            digest=digest(token),
            created_at=now,
            expires_at=now + KEPT,
        )
        invitation.venues.set(chosen)
        mail(invitation, token, by=access.user, now=now)
        return invitation


def resend(access: Access, invitation: UUID, *, now: datetime) -> Invitation:
    """Mail a new link, with seven days of its own; the former works no more. Raises NotYours, InvitationOver."""
    with transaction.atomic():
        account = hold(access.account.pk)
        found = open_invitation(account, invitation)
        check(reach_of(access), account, found.role, found.venues.all())
        if found.created_at > now - PAUSE:
            raise AlreadyThere("The email was sent less than a minute ago. Wait a moment.")
        token = secrets.token_urlsafe(TOKEN_BYTES)
        found.digest, found.created_at, found.expires_at = digest(token), now, now + KEPT
        found.save(update_fields=["digest", "created_at", "expires_at"])
        mail(found, token, by=access.user, now=now)
        return found


def withdraw(access: Access, invitation: UUID, *, now: datetime) -> Invitation:
    """Make the link worthless. Raises NotYours, InvitationOver."""
    with transaction.atomic():
        account = hold(access.account.pk)
        found = open_invitation(account, invitation)
        check(reach_of(access), account, found.role, found.venues.all())
        found.withdrawn_at = now
        found.save(update_fields=["withdrawn_at"])
        return found


def find(token: str, *, now: datetime) -> Invitation:
    """The invitation of a link that works. Raises InvitationOver."""
    found = (
        Invitation.objects.select_related("account", "invited_by")
        .filter(
            digest=digest(token),
            accepted_at=None,
            withdrawn_at=None,
            expires_at__gt=now,
            account__closed_at=None,
        )
        .first()
    )
    if found is None:
        raise InvitationOver("The invitation was used or cancelled, or it is older than a week.")
    return found


def is_for(invitation: Invitation, user: User) -> bool:
    """Whether the user has the address that it was sent to; another address counts once it is confirmed."""
    theirs = EmailAddress.objects.filter(user=user, email__iexact=invitation.email, verified=True)
    return user.email.lower() == invitation.email.lower() or theirs.exists()


def is_known(invitation: Invitation) -> bool:
    """Whether somebody can sign in by the address that it was sent to."""
    confirmed = Q(emailaddress__email__iexact=invitation.email, emailaddress__verified=True)
    return User.objects.filter(Q(email__iexact=invitation.email) | confirmed).exists()


def accept(token: str, user: User, *, now: datetime) -> Membership:
    """Make the user a member, and believe the address: the link was mailed to it.

    Of two who follow one link at once, one wins. Raises InvitationOver, NotForYou, AlreadyThere.
    """
    with transaction.atomic():
        invitation = find(token, now=now)
        hold(invitation.account_id)
        if not is_for(invitation, user):
            raise NotForYou(f"This invitation was sent to {invitation.email}. You are signed in as {user.email}.")
        still = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
        if not still.filter(digest=invitation.digest).update(accepted_at=now):
            raise InvitationOver("This invitation was just used.")
        try:
            with transaction.atomic():
                made = Membership.objects.create(
                    account=invitation.account, user=user, role=invitation.role, is_limited=invitation.is_limited
                )
        except IntegrityError as error:
            raise AlreadyThere("You are already a member of this team.") from error
        made.venues.set(invitation.venues.all())
        prove(user, invitation.email)
        return made


def enlist(token: str, *, password: str, now: datetime) -> User:
    """Make the invited a user and a member; they found no account of their own.

    Raises InvitationOver, AlreadyThere.
    """
    try:
        with transaction.atomic():
            user = User.objects.create_user(find(token, now=now).email, password)
            accept(token, user, now=now)
            return user
    except IntegrityError as error:
        raise AlreadyThere("An account with this address was just created. Sign in instead.") from error


def prove(user: User, email: str) -> None:
    """Note that the address is the user's."""
    address, _ = EmailAddress.objects.get_or_create(user=user, email=email.lower())
    if not address.verified and address.can_set_verified():
        address.set_verified(commit=True)
    if not EmailAddress.objects.filter(user=user, primary=True).exists():
        EmailAddress.objects.filter(pk=address.pk).update(primary=True)


def change(access: Access, membership: int, *, role: str, venues: Iterable[Venue]) -> Membership:
    """Give a member another role, or other venues. Raises NotYours, LastOwner."""
    chosen = list(venues)
    with transaction.atomic():
        account = hold(access.account.pk)
        theirs, reach = member(account, membership), reach_of(access)
        check(reach, account, theirs.role, theirs.venues.all())
        check(reach, account, role, chosen)
        if is_owner(theirs) and (role != Role.OWNER or chosen):
            keep_an_owner(account, without=theirs)
        theirs.role, theirs.is_limited = role, bool(chosen)
        theirs.save(update_fields=["role", "is_limited"])
        theirs.venues.set(chosen)
        return theirs


def remove(access: Access, membership: int, *, now: datetime) -> Membership:
    """End somebody's part, and the invitations that they sent. Raises NotYours, LastOwner."""
    with transaction.atomic():
        account = hold(access.account.pk)
        theirs = member(account, membership)
        check(reach_of(access), account, theirs.role, theirs.venues.all())
        end(theirs, now=now)
        return theirs


def leave(account: Account, user: User, *, now: datetime) -> None:
    """End one's own part. Raises LastOwner, NotYours where one has none."""
    with transaction.atomic():
        hold(account.pk)
        mine = Membership.objects.filter(account=account, user=user).first()
        if mine is None:
            raise NotYours("You are not a member of this team.")
        end(mine, now=now)


def end(membership: Membership, *, now: datetime) -> None:
    """Delete a membership. Call it while holding the account. Raises LastOwner."""
    if is_owner(membership):
        keep_an_owner(membership.account, without=membership)
    sent = Invitation.objects.filter(
        account=membership.account_id, invited_by=membership.user_id, accepted_at=None, withdrawn_at=None
    )
    sent.update(withdrawn_at=now)
    membership.delete()


def hold(account: UUID) -> Account:
    """The account, locked until the end of the transaction. Raises NotYours where it is closed."""
    held = Account.objects.select_for_update(no_key=True).filter(pk=account, closed_at=None).first()
    if held is None:
        raise NotYours("This account is closed.")
    return held


def is_owner(membership: Membership) -> bool:
    """Whether this part owns the account, and not some of its venues alone."""
    return membership.role == Role.OWNER and not membership.is_limited


def keep_an_owner(account: Account, *, without: Membership) -> None:
    """Raise LastOwner where nobody who can sign in would own the account. Call it while holding the account."""
    owners = Membership.objects.filter(account=account, role=Role.OWNER, is_limited=False, user__is_active=True)
    if not owners.exclude(pk=without.pk).exists():
        raise LastOwner("An account needs an owner. Make another member an owner first.")


def check(reach: Reach, account: Account, role: str, venues: Iterable[Venue]) -> None:
    """Raise NotYours where this part is not theirs to give or to take."""
    chosen = list(venues)
    if any(venue.account_id != account.pk for venue in chosen):
        raise NotYours("This restaurant does not belong to the account.", param="venues")
    if role not in reach.roles():
        raise NotYours("Only owners can add, edit or remove owners.", param="role")
    if not reach.covers(role, {venue.pk for venue in chosen}):
        raise NotYours("Select only restaurants that you manage.", param="venues")


def member(account: Account, membership: int) -> Membership:
    """A membership of the account. Raises NotYours."""
    found = Membership.objects.select_related("user", "account").filter(account=account, pk=membership).first()
    if found is None:
        raise NotYours("This person is no longer a member of the team.")
    return found


def open_invitation(account: Account, invitation: UUID) -> Invitation:
    """An invitation of the account that nobody has used; its time may be up. Raises InvitationOver."""
    found = Invitation.objects.filter(account=account, pk=invitation, accepted_at=None, withdrawn_at=None).first()
    if found is None:
        raise InvitationOver("This invitation was used or cancelled.")
    return found


def digest(token: str) -> bytes:
    """What is kept of a link: a fast hash is right for 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def mail(invitation: Invitation, token: str, *, by: User, now: datetime) -> None:
    """Write the mail with the link."""
    account = " ".join(invitation.account.name.split())
    mail_outbox.write(
        address=invitation.email,
        subject=f"Join the team of {account}",
        text=TEXT.format(
            who=by.email,
            account=account,
            role=Role(invitation.role).label.lower(),
            link=public_url(f"/dashboard/invitation/{token}"),
        ),
        now=now,
    )
