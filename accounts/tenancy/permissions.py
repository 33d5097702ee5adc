"""Rights at a venue (permissions.toml): of members by their role, of our own staff by back office permissions.

Our own staff have the permissions of their groups. A migration creates the groups, and superusers assign users to
them. What a group may do is in permissions.toml: a deployment changes it, and no rows have to be synchronised.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from pathlib import Path
from uuid import UUID

from django.apps import apps
from django.contrib.auth.backends import ModelBackend
from django.db.models import Q

from accounts.models import Account, Membership, Role, User, Venue
from framework.data_files import read_toml

TABLES = read_toml(Path(__file__).with_name("permissions.toml"))


class Right(StrEnum):
    """A right at a venue, or on its account."""

    ORDERS = auto()
    SALES = auto()
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
    """The rights of a user at a venue. `role` is None for our own staff.

    The user sees the pages of the `visible` rights, and changes something on those of `rights`.
    """

    user: User
    venue: Venue
    role: Role | None
    rights: frozenset[Right]
    visible: frozenset[Right]

    @property
    def account(self) -> Account:
        return self.venue.account

    @property
    def actor(self) -> str:
        """The actor in the audit trail (Event.actor)."""
        return f"staff:{self.user.email}"

    def may(self, right: Right) -> bool:
        return right in self.rights

    def may_view(self, right: Right) -> bool:
        return right in self.visible


def get_access(user: User, venue_id: UUID) -> Access | None:
    """Return the user's rights at a venue; None if nothing is visible, as if the venue did not exist.

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
        rights = RIGHTS_BY_ROLE[role] - (ACCOUNT_RIGHTS if membership.is_limited else frozenset())
        return Access(user, venue, role, rights, visible=rights)
    if not user.is_staff:
        return None
    rights, viewed = (
        frozenset(Right(right) for right, permission in table.items() if has_staff_permission(user, permission))
        for table in (TABLES["staff"]["change"], TABLES["staff"]["view"])
    )
    return Access(user, venue, None, rights, visible=rights | viewed) if rights | viewed else None


@cache
def get_group_permissions(name: str) -> frozenset[str]:
    """Return the permissions of a group; none for an unknown name."""
    return frozenset(
        f"{app}.{verb}_{model._meta.model_name}"
        for app, verbs in TABLES["groups"].get(name, {}).items()
        for model in apps.get_app_config(app).get_models()
        for verb in verbs.get(model._meta.model_name, verbs.get("*", ()))
    )


def get_staff_permissions(user: User) -> frozenset[str]:
    """Return the permissions of the user's groups, and those that a superuser assigned; none for non-staff.

    At most three queries, cached on `user`.
    """
    if not (user.is_active and user.is_staff):
        return frozenset()
    permissions: frozenset[str] | None = user.__dict__.get("_staff_permissions")
    if permissions is None:
        groups = user.groups.values_list("name", flat=True)
        of_groups = frozenset[str]().union(*map(get_group_permissions, groups))
        permissions = user.__dict__["_staff_permissions"] = of_groups | ModelBackend().get_all_permissions(user)
    return permissions


def has_staff_permission(user: User, permission: str) -> bool:
    """Whether the user has this permission at all venues, as a superuser or as our staff."""
    return user.is_active and (user.is_superuser or permission in get_staff_permissions(user))
