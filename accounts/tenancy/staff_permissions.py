"""Permissions of our own staff in the back office, by the name of their group.

A migration creates the groups, and superusers assign users to them. The permissions of each group are in code, so that
a deployment changes them and no rows have to be synchronised.
"""

from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.contrib.auth.backends import ModelBackend

from accounts.models import User

DATA_EDITOR, FINANCE, SUPPORT = "Data editor", "Finance", "Support"

VIEW = ("view",)
EDIT = ("view", "add", "change")
# The verbs of models that differ from those of their app.
Verbs = Mapping[str, tuple[str, ...]]

# By group: app, the verbs of its models, and the models with other verbs.
GROUPS: Mapping[str, Mapping[str, tuple[tuple[str, ...], Verbs]]] = {
    DATA_EDITOR: {
        "catalogue": (
            EDIT,
            dict.fromkeys(("export", "exportpart", "flowrule", "listing", "flowslot", "flowbooking"), VIEW),
        ),
    },
    FINANCE: {
        "payments": (EDIT, {}),
        "accounts": ((), dict.fromkeys(("account", "user", "venue"), VIEW)),
        "catalogue": ((), dict.fromkeys(("export", "exportpart"), VIEW)),
    },
    SUPPORT: {
        "accounts": (VIEW, dict.fromkeys(("apikey", "webhookdelivery"), ("view", "change"))),
        "orders": (VIEW, {"order": ("view", "change")}),
        "reservations": (VIEW, {}),
        "catalogue": (VIEW, {}),
        "payments": (VIEW, dict.fromkeys(("product", "price", "plan", "tierterms", "audit", "revenue"), ())),
    },
}


@cache
def get_group_permissions(name: str) -> frozenset[str]:
    """Return the permissions of a group; none for an unknown name."""
    return frozenset(
        f"{app}.{verb}_{model.__name__.lower()}"
        for app, (verbs, exceptions) in GROUPS.get(name, {}).items()
        for model in apps.get_app_config(app).get_models()
        for verb in exceptions.get(model.__name__.lower(), verbs)
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
