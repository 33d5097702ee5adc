"""Says what people may do in the back office: our staff by their groups, members of accounts by their memberships."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import BaseBackend
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, Value

from accounts.models import Membership, Role, User, Venue
from accounts.tenancy.permissions import RIGHTS_OF, Right
from accounts.tenancy.staff_permissions import holds, permissions_of


def _every(app: str, *models: str, verbs: tuple[str, ...] = ("view", "add", "change", "delete")) -> frozenset[str]:
    return frozenset(f"{app}.{verb}_{model}" for model in models for verb in verbs)


VIEW = ("view",)
ROOM = ("area", "table", "combination", "serviceperiod", "closure")
# What each kind of work needs in the back office, beside looking at the venue itself.
PERMISSIONS_OF: Mapping[Right, frozenset[str]] = {
    Right.ORDERS: _every("orders", "order", verbs=("view", "change"))
    | _every("orders", "orderitem", "ordernumber", verbs=VIEW),
    # Selling out is an action of the list; who may do no more does not change what stands on the menu.
    Right.SOLD_OUT: _every("orders", "menu", "menucategory", "menuitem", verbs=VIEW) | {"orders.sell_out_menuitem"},
    Right.MENU: _every("orders", "menu", "menucategory", "menuitem"),
    Right.RESERVATIONS: _every("reservations", "reservation", verbs=("view", "add", "change"))
    | _every("reservations", *ROOM, verbs=VIEW),
    Right.GUESTS: frozenset(),
    Right.VENUE: _every("accounts", "venue", verbs=("view", "change")) | _every("reservations", *ROOM),
    Right.DEVELOPERS: _every("accounts", "apikey", verbs=("view", "add", "change"))
    | _every("accounts", "webhookendpoint")
    | _every("accounts", "webhookdelivery", verbs=("view", "change"))
    | _every("accounts", "event", verbs=VIEW),
    # Their pages are in the dashboard.
    Right.DATA: frozenset(),
    Right.TEAM: frozenset(),
    Right.ACCOUNT: frozenset(),
}
PERMISSIONS_OF_ROLE: Mapping[Role, frozenset[str]] = {
    role: frozenset({"accounts.view_venue"}).union(*(PERMISSIONS_OF[right] for right in rights))
    for role, rights in RIGHTS_OF.items()
}


@dataclass(frozen=True, slots=True)
class Part:
    """What somebody is at some venues of one account."""

    role: Role
    venues: frozenset[UUID]


def parts_of(user: User) -> tuple[Part, ...]:
    """The user's parts in open accounts. Two queries, once for each `user`."""
    found: tuple[Part, ...] | None = user.__dict__.get("_parts")
    if found is None:
        rows = list(
            Membership.objects.filter(user=user, account__closed_at=None)
            .annotate(named=ArrayAgg("venues", filter=Q(venues__isnull=False), default=Value([])))
            .values_list("account", "role", "is_limited", "named")
        )
        its: dict[UUID, set[UUID]] = {account: set() for account, *_ in rows}
        if its:
            for venue, account in Venue.objects.filter(account__in=its).values_list("pk", "account"):
                its[account].add(venue)
        found = user.__dict__["_parts"] = tuple(
            Part(Role(role), frozenset(its[account].intersection(named) if is_limited else its[account]))
            for account, role, is_limited, named in rows
        )
    return found


def venues_where(user: User, permission: str) -> frozenset[UUID] | None:
    """The venues at which the user has this permission; None is all of them, for our own staff."""
    if holds(user, permission):
        return None
    return frozenset[UUID]().union(
        *(part.venues for part in parts_of(user) if permission in PERMISSIONS_OF_ROLE[part.role])
    )


class Staff(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Signs people in, and says what our staff may do."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """By their groups; of others none."""
        return set() if user_obj.is_anonymous or obj is not None else set(permissions_of(user_obj))


class Members(BaseBackend):
    """Says what members of accounts may do, at one venue or more: accounts/admin/venue_scoping.py says at which."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """By their memberships."""
        if user_obj.is_anonymous or not user_obj.is_active or obj is not None:
            return set()
        return set[str]().union(*(PERMISSIONS_OF_ROLE[part.role] for part in parts_of(user_obj) if part.venues))

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Whether the app has anything that they may look at."""
        return any(name.startswith(f"{app_label}.") for name in self.get_all_permissions(user_obj))
