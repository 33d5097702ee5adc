"""What people may do at a venue: members by their role, our own staff by their permissions in the back office."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from uuid import UUID

from django.db.models import Q

from accounts.models import Account, Membership, Role, User, Venue
from accounts.tenancy.staff_permissions import holds


class Right(StrEnum):
    """One kind of work at a venue, or for its account."""

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


RIGHTS_OF: Mapping[Role, frozenset[Right]] = {
    Role.OWNER: frozenset(Right),
    Role.MANAGER: frozenset(Right) - {Right.ACCOUNT},
    Role.HOST: frozenset({Right.ORDERS, Right.SOLD_OUT, Right.RESERVATIONS, Right.GUESTS}),
    Role.KITCHEN: frozenset({Right.ORDERS, Right.SOLD_OUT}),
}
# What our own staff need in the back office for the same.
PERMISSIONS: Mapping[Right, str] = {
    Right.ORDERS: "orders.change_order",
    Right.SOLD_OUT: "orders.change_menuitem",
    Right.MENU: "orders.change_menu",
    Right.RESERVATIONS: "reservations.change_reservation",
    Right.GUESTS: "reservations.change_reservation",
    Right.VENUE: "accounts.change_venue",
    Right.DEVELOPERS: "accounts.change_apikey",
    Right.DATA: "payments.view_payment",
    Right.TEAM: "accounts.change_membership",
    Right.ACCOUNT: "accounts.delete_account",
}


# Work for the account as a whole, which a part at some of its venues does not reach.
OF_ACCOUNT = frozenset({Right.DATA, Right.ACCOUNT})


def rights_of(membership: Membership) -> frozenset[Right]:
    """What this part lets somebody do at its venues."""
    rights = RIGHTS_OF[Role(membership.role)]
    return rights - OF_ACCOUNT if membership.is_limited else rights


@dataclass(frozen=True, slots=True)
class Access:
    """Somebody at work at a venue. `role` is None for our own staff."""

    user: User
    venue: Venue
    role: Role | None
    rights: frozenset[Right]

    @property
    def account(self) -> Account:
        """Whose venue it is."""
        return self.venue.account

    @property
    def actor(self) -> str:
        """Who this is in the audit trail (Event.actor)."""
        return f"staff:{self.user.email}"

    def may(self, right: Right) -> bool:
        """Whether this is among what they do here."""
        return right in self.rights


def access(user: User, venue: UUID) -> Access | None:
    """The user's part at a venue, None where they have none: then it is as if the venue were not there.

    Two queries, and for our own staff those of their permissions.
    """
    found = Venue.objects.select_related("account").filter(pk=venue, account__closed_at=None).first()
    if found is None:
        return None
    membership = (
        Membership.objects.filter(Q(is_limited=False) | Q(venues=found), account=found.account_id, user=user)
        .order_by("pk")
        .first()
    )
    if membership is not None:
        role = Role(membership.role)
        return Access(user, found, role, rights_of(membership))
    if not user.is_staff:
        return None
    rights = frozenset(right for right, permission in PERMISSIONS.items() if holds(user, permission))
    return Access(user, found, None, rights) if rights else None
