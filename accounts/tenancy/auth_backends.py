"""Permissions in the back office: our staff have those of their groups, members of accounts those of their roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import BaseBackend
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q, Value

from accounts.models import Membership, Role, User, Venue
from accounts.tenancy.permissions import RIGHTS_BY_ROLE, TABLES, get_staff_permissions, has_staff_permission

ADMIN_PERMISSIONS_BY_ROLE: Mapping[Role, frozenset[str]] = {
    role: frozenset(
        model.replace(".", f".{verb}_")
        for right in rights
        for model, verbs in ({"accounts.venue": ["view"]} | TABLES["back_office"].get(right, {})).items()
        for verb in verbs
    )
    for role, rights in RIGHTS_BY_ROLE.items()
}


@dataclass(frozen=True, slots=True)
class VenueRole:
    """A role of a user at some venues of one account."""

    role: Role
    venues: frozenset[UUID]


def get_venue_roles(user: User) -> tuple[VenueRole, ...]:
    """Return the user's roles in open accounts. Two queries, cached on `user`."""
    roles: tuple[VenueRole, ...] | None = user.__dict__.get("_venue_roles")
    if roles is None:
        rows = list(
            Membership.objects.filter(user=user, account__closed_at=None)
            .annotate(listed=ArrayAgg("venues", filter=Q(venues__isnull=False), default=Value([])))
            .values_list("account", "role", "is_limited", "listed")
        )
        venues: dict[UUID, set[UUID]] = {account: set() for account, *_ in rows}
        if venues:
            for venue, account in Venue.objects.filter(account__in=venues).values_list("pk", "account"):
                venues[account].add(venue)
        roles = user.__dict__["_venue_roles"] = tuple(
            VenueRole(Role(role), frozenset(venues[account].intersection(listed) if is_limited else venues[account]))
            for account, role, is_limited, listed in rows
        )
    return roles


def get_permitted_venues(user: User, permission: str) -> frozenset[UUID] | None:
    """Return the venues where the user has this permission; None means all venues, for our own staff."""
    if has_staff_permission(user, permission):
        return None
    return frozenset[UUID]().union(
        *(at.venues for at in get_venue_roles(user) if permission in ADMIN_PERMISSIONS_BY_ROLE[at.role])
    )


class StaffBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Authenticates users, and returns the permissions of our staff."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        return set() if user_obj.is_anonymous or obj is not None else set(get_staff_permissions(user_obj))


class MemberBackend(BaseBackend):
    """Returns the permissions that a member has at any venue; accounts/admin/venue_scoping.py limits the rows."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if user_obj.is_anonymous or not user_obj.is_active or obj is not None:
            return set()
        return set[str]().union(*(ADMIN_PERMISSIONS_BY_ROLE[at.role] for at in get_venue_roles(user_obj) if at.venues))

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        return any(name.startswith(f"{app_label}.") for name in self.get_all_permissions(user_obj))
