"""Rights at a venue (permissions.toml): of members by their role, of our own staff by back office permissions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from uuid import UUID

from django.db.models import Q

from accounts.models import Account, Membership, Role, User, Venue
from accounts.tenancy.staff_permissions import TABLES, has_staff_permission


class Right(StrEnum):
    """A right at a venue, or on its account."""

    ORDERS = auto()
    SOLD_OUT = auto()
    MENU = auto()
    RESERVATIONS = auto()
    GUESTS = auto()
    VENUE = auto()
    DEVELOPERS = auto()
    DATA = auto()
    TEAM = auto()
    ACCOUNT = auto()


RIGHTS_BY_ROLE: Mapping[Role, frozenset[Right]] = {
    Role(role): frozenset(map(Right, rights)) for role, rights in TABLES["roles"].items()
}
# Rights on the account as a whole, which a membership limited to some venues does not have.
ACCOUNT_RIGHTS = frozenset({Right.DATA, Right.ACCOUNT})


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of a user at a venue. `role` is None for our own staff."""

    user: User
    venue: Venue
    role: Role | None
    rights: frozenset[Right]

    @property
    def account(self) -> Account:
        return self.venue.account

    @property
    def actor(self) -> str:
        """The actor in the audit trail (Event.actor)."""
        return f"staff:{self.user.email}"

    def may(self, right: Right) -> bool:
        return right in self.rights


def get_access(user: User, venue_id: UUID) -> Access | None:
    """Return the user's rights at a venue; None without any, as if the venue did not exist.

    Two queries, and for our own staff those of their permissions.
    """
    venue = Venue.objects.select_related("account").filter(pk=venue_id, account__closed_at=None).first()
    if venue is None:
        return None
    membership = (
        Membership.objects.filter(Q(is_limited=False) | Q(venues=venue), account=venue.account_id, user=user)
        .order_by("pk")
        .first()
    )
    if membership is not None:
        role = Role(membership.role)
        rights = RIGHTS_BY_ROLE[role]
        return Access(user, venue, role, rights - ACCOUNT_RIGHTS if membership.is_limited else rights)
    if not user.is_staff:
        return None
    rights = frozenset(
        Right(right) for right, permission in TABLES["staff"].items() if has_staff_permission(user, permission)
    )
    return Access(user, venue, None, rights) if rights else None
