"""Team commands: invite, accept, change and remove members of an account.

Each command locks the account's row and then checks the authority of the acting user again, so that of two owners who
remove each other concurrently one succeeds.
"""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts import mail_outbox
from accounts.models import Account, Invitation, Membership, Role, User, Venue
from accounts.oauth.access import end_lost_access
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, Access, Right
from framework.api.urls import public_url
from framework.errors import InvalidRequest

INVITATION_LIFETIME = timedelta(days=7)
# Prevents a user from sending hundreds of mails to one address.
MIN_RESEND_INTERVAL = timedelta(minutes=1)
MAX_OPEN_INVITATIONS = 50
# Invitations mailed in a day, also those that are withdrawn or sent again: to one address by all accounts, and by one
# account.
MAX_MAILS_TO_ADDRESS = 5
MAX_MAILS_OF_ACCOUNT = 50


class NotPermitted(InvalidRequest):
    """The acting user may not make this change."""


class LastOwner(InvalidRequest):
    """The account would have no owner."""


class InvitationConflict(InvalidRequest):
    """The person is already a member or invited, or the limit on open invitations or mails is reached."""


class InvitationInvalid(InvalidRequest):
    """The invitation was accepted or withdrawn, has expired, or does not exist."""


class WrongInvitationAddress(InvalidRequest):
    """The invitation was sent to another email address than the user's."""


@dataclass(frozen=True, slots=True)
class TeamAuthority:
    """The roles and venues that a user may assign. `venues` is None for all venues."""

    is_owner: bool
    venues: frozenset[UUID] | None

    def roles(self) -> list[Role]:
        """Return the roles that the user may assign."""
        return [role for role in Role if self.is_owner or role != Role.OWNER]

    def covers(self, role: str, venues: Iterable[Venue]) -> bool:
        """Whether the user may assign or remove this role at these venues; no venues means all venues."""
        keys = {venue.pk for venue in venues}
        return role in self.roles() and (self.venues is None or (bool(keys) and self.venues >= keys))


def get_authority(access: Access) -> TeamAuthority:
    """Return the current authority of the acting user. Two queries. Raises NotPermitted without the right TEAM."""
    if access.role is None:
        return TeamAuthority(is_owner=True, venues=None)
    membership = Membership.objects.filter(account=access.account, user=access.user).first()
    if membership is None or Right.TEAM not in RIGHTS_BY_ROLE[Role(membership.role)]:
        raise NotPermitted(_("You no longer manage this team."))
    venues = frozenset(membership.venues.values_list("pk", flat=True))
    return TeamAuthority(is_owner=is_owner(membership), venues=venues if membership.is_limited else None)


def invite(access: Access, *, email: str, role: str, venues: Iterable[Venue], now: datetime) -> Invitation:
    """Store an invitation and mail its link. No `venues` means all venues. Raises NotPermitted, InvitationConflict."""
    email, chosen = email.strip().lower(), list(venues)
    with transaction.atomic():
        account = lock_account(access.account.pk)
        check_authority(get_authority(access), account, role, chosen)
        if Membership.objects.filter(account=account, user__email__iexact=email).exists():
            message = _("%(email)s is already a member of the team.") % {"email": email}
            raise InvitationConflict(message, param="email")
        open_invitations = Invitation.objects.filter(account=account, accepted_at=None, withdrawn_at=None)
        open_invitations.filter(expires_at__lte=now).update(withdrawn_at=now)
        if open_invitations.filter(email__iexact=email).exists():
            message = _("%(email)s is already invited. You can resend the invitation.") % {"email": email}
            raise InvitationConflict(message, param="email")
        if open_invitations.count() >= MAX_OPEN_INVITATIONS:
            message = _("There are %(number)s open invitations. Cancel some first.") % {"number": MAX_OPEN_INVITATIONS}
            raise InvitationConflict(message, param="email")
        invitation = Invitation(
            account=account, email=email, role=role, is_limited=bool(chosen), invited_by=access.user
        )
        send_link(invitation, sender=access.user, now=now)
        invitation.venues.set(chosen)
        return invitation


def resend_invitation(access: Access, invitation_id: UUID, *, now: datetime) -> Invitation:
    """Mail a new link, which replaces the old one. Raises NotPermitted, InvitationInvalid, InvitationConflict."""
    with transaction.atomic():
        invitation = lock_open_invitation(access, invitation_id)
        if invitation.created_at > now - MIN_RESEND_INTERVAL:
            raise InvitationConflict(_("The email was sent less than a minute ago. Wait a moment."))
        send_link(invitation, sender=access.user, now=now)
        return invitation


def withdraw_invitation(access: Access, invitation_id: UUID, *, now: datetime) -> Invitation:
    """Withdraw an invitation, so that its link is invalid. Raises NotPermitted, InvitationInvalid."""
    with transaction.atomic():
        invitation = lock_open_invitation(access, invitation_id)
        invitation.withdrawn_at = now
        invitation.save(update_fields=["withdrawn_at"])
        return invitation


def lock_open_invitation(access: Access, invitation_id: UUID) -> Invitation:
    """Lock the account; return its open, maybe expired invitation. Raises NotPermitted, InvitationInvalid."""
    account = lock_account(access.account.pk)
    rows = Invitation.objects.filter(account=account, accepted_at=None, withdrawn_at=None)
    invitation = rows.filter(pk=invitation_id).first()
    if invitation is None:
        raise InvitationInvalid(_("This invitation was used or cancelled."))
    check_authority(get_authority(access), account, invitation.role, invitation.venues.all())
    return invitation


def find_invitation(token: str, *, now: datetime) -> Invitation:
    """Return the invitation of a valid link. Raises InvitationInvalid."""
    rows = Invitation.objects.filter(digest=digest(token), accepted_at=None, withdrawn_at=None, expires_at__gt=now)
    invitation = rows.filter(account__closed_at=None).select_related("account", "invited_by").first()
    if invitation is None:
        raise InvitationInvalid(_("The invitation was used or cancelled, or it is older than a week."))
    return invitation


def is_addressed_to(invitation: Invitation, user: User) -> bool:
    """Whether the invitation was sent to the user's email address, or to a verified one of theirs."""
    verified = EmailAddress.objects.filter(user=user, email__iexact=invitation.email, verified=True)
    return user.email.lower() == invitation.email.lower() or verified.exists()


def has_user(invitation: Invitation) -> bool:
    """Whether a user can sign in with the invited email address."""
    return User.objects.with_address(invitation.email).exists()


def accept(token: str, user: User, *, now: datetime) -> Membership:
    """Make the user a member, and mark the address as verified, because the link was mailed to it.

    Of two concurrent calls with one link, one succeeds. Raises InvitationInvalid, WrongInvitationAddress,
    InvitationConflict.
    """
    with transaction.atomic():
        invitation = find_invitation(token, now=now)
        lock_account(invitation.account_id)
        if not is_addressed_to(invitation, user):
            raise WrongInvitationAddress(
                _("This invitation was sent to %(invited)s. You are signed in as %(email)s.")
                % {"invited": invitation.email, "email": user.email}
            )
        unused = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
        if not unused.filter(digest=invitation.digest).update(accepted_at=now):
            raise InvitationInvalid(_("This invitation was just used."))
        try:
            with transaction.atomic():
                membership = Membership.objects.create(
                    account=invitation.account, user=user, role=invitation.role, is_limited=invitation.is_limited
                )
        except IntegrityError as error:
            raise InvitationConflict(_("You are already a member of this team.")) from error
        membership.venues.set(invitation.venues.all())
        verify_email(user, invitation.email)
        return membership


def accept_as_new_user(token: str, *, password: str, now: datetime) -> User:
    """Create a user who is a member, without an account of their own. Raises InvitationInvalid, InvitationConflict."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(find_invitation(token, now=now).email, password)
            accept(token, user, now=now)
            return user
    except IntegrityError as error:
        raise InvitationConflict(_("An account with this address was just created. Sign in instead.")) from error


def verify_email(user: User, email: str) -> None:
    """Mark the address as a verified one of the user."""
    address, _is_new = EmailAddress.objects.get_or_create(user=user, email=email.lower())
    if not address.verified and address.can_set_verified():
        address.set_verified(commit=True)
    if not EmailAddress.objects.filter(user=user, primary=True).exists():
        EmailAddress.objects.filter(pk=address.pk).update(primary=True)


def change_membership(
    access: Access, membership_id: int, *, role: str, venues: Iterable[Venue], now: datetime
) -> Membership:
    """Change the role and the venues of a member. What the member granted to apps and may not grant any more ends.

    Raises NotPermitted, LastOwner.
    """
    chosen = list(venues)
    with transaction.atomic():
        account = lock_account(access.account.pk)
        membership, authority = get_member(account, membership_id), get_authority(access)
        check_authority(authority, account, membership.role, membership.venues.all())
        check_authority(authority, account, role, chosen)
        if is_owner(membership) and (role != Role.OWNER or chosen):
            check_owner_remains(account, without=membership)
        membership.role, membership.is_limited = role, bool(chosen)
        membership.save(update_fields=["role", "is_limited"])
        membership.venues.set(chosen)
        end_lost_access(membership.user.oauth_grants.filter(account=account), now=now)
        return membership


def remove_member(access: Access, membership_id: int, *, now: datetime) -> Membership:
    """Delete a membership, and withdraw the invitations that the member sent. Raises NotPermitted, LastOwner."""
    with transaction.atomic():
        account = lock_account(access.account.pk)
        membership = get_member(account, membership_id)
        check_authority(get_authority(access), account, membership.role, membership.venues.all())
        delete_membership(membership, now=now)
        return membership


def leave(account: Account, user: User, *, now: datetime) -> None:
    """Delete the user's own membership. Raises LastOwner; NotPermitted if there is none."""
    with transaction.atomic():
        lock_account(account.pk)
        membership = Membership.objects.filter(account=account, user=user).first()
        if membership is None:
            raise NotPermitted(_("You are not a member of this team."))
        delete_membership(membership, now=now)


def delete_membership(membership: Membership, *, now: datetime) -> None:
    """Delete a membership; requires the lock on the account. Raises LastOwner."""
    if is_owner(membership):
        check_owner_remains(membership.account, without=membership)
    Invitation.objects.filter(
        account=membership.account_id, invited_by=membership.user_id, accepted_at=None, withdrawn_at=None
    ).update(withdrawn_at=now)
    mail_outbox.cancel(mail_topic(membership.pk))
    membership.delete()
    end_lost_access(membership.user.oauth_grants.filter(account=membership.account_id), now=now)


def mail_topic(membership_id: int) -> str:
    """Return the topic of mail that is for this member only."""
    return f"membership {membership_id}"


def lock_account(account_id: UUID) -> Account:
    """Lock the account's row until the end of the transaction. Raises NotPermitted if the account is closed."""
    account = Account.objects.select_for_update(no_key=True).filter(pk=account_id, closed_at=None).first()
    if account is None:
        raise NotPermitted(_("This account is closed."))
    return account


def is_owner(membership: Membership) -> bool:
    """Whether the member owns the whole account, not only some of its venues."""
    return membership.role == Role.OWNER and not membership.is_limited


def check_owner_remains(account: Account, *, without: Membership) -> None:
    """Raise LastOwner if no other active user owns the account; requires the lock on the account."""
    owners = Membership.objects.filter(account=account, role=Role.OWNER, is_limited=False, user__is_active=True)
    if not owners.exclude(pk=without.pk).exists():
        raise LastOwner(_("An account needs an owner. Make another member an owner first."))


def check_authority(authority: TeamAuthority, account: Account, role: str, venues: Iterable[Venue]) -> None:
    """Raise NotPermitted if the acting user may not assign or remove this role at these venues."""
    chosen = list(venues)
    if any(venue.account_id != account.pk for venue in chosen):
        raise NotPermitted(_("This restaurant does not belong to the account."), param="venues")
    if role not in authority.roles():
        raise NotPermitted(_("Only owners can add, edit or remove owners."), param="role")
    if not authority.covers(role, chosen):
        raise NotPermitted(_("Select only restaurants that you manage."), param="venues")


def get_member(account: Account, membership_id: int) -> Membership:
    """Return a membership of the account. Raises NotPermitted if there is none."""
    rows = Membership.objects.filter(account=account, pk=membership_id)
    membership = rows.select_related("user", "account").first()
    if membership is None:
        raise NotPermitted(_("This person is no longer a member of the team."))
    return membership


def digest(token: str) -> bytes:
    """Return the stored hash of a token; a fast hash is right for 256 random bits."""
    return hashlib.sha256(token.encode()).digest()


def send_link(invitation: Invitation, *, sender: User, now: datetime) -> None:
    """Store the invitation with a new link, and enqueue the mail with it. Raises InvitationConflict."""
    account_id, address = invitation.account_id.hex, invitation.email.lower()
    if not mail_outbox.is_within_limit("invitations-of-account", account_id, limit=MAX_MAILS_OF_ACCOUNT):
        message = _("An account can send %(number)s invitations a day. Continue tomorrow.")
        message %= {"number": MAX_MAILS_OF_ACCOUNT}
        raise InvitationConflict(message, param="email")
    if not mail_outbox.is_within_limit("invitations-to-address", address, limit=MAX_MAILS_TO_ADDRESS):
        message = _("Too many invitations were sent to this address today. Use one of those, or continue tomorrow.")
        raise InvitationConflict(message, param="email")
    token = secrets.token_urlsafe(32)
    invitation.digest, invitation.created_at, invitation.expires_at = digest(token), now, now + INVITATION_LIFETIME
    invitation.save()
    context = {
        "sender": sender.email,
        "account": " ".join(invitation.account.name.split()),
        "role": Role(invitation.role).label,
        "link": public_url(f"/dashboard/invitation/{token}"),
    }
    mail_outbox.enqueue("accounts/mail/invitation", context, address=invitation.email, now=now)
