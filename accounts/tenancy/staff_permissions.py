"""Permissions of our own staff in the back office, by the name of their group.

A migration creates the groups, and superusers assign users to them. The permissions of each group are in
permissions.toml, so that a deployment changes them and no rows have to be synchronised.
"""

import tomllib
from functools import cache
from pathlib import Path

from django.apps import apps
from django.contrib.auth.backends import ModelBackend

from accounts.models import User

TABLES = tomllib.loads(Path(__file__).with_name("permissions.toml").read_text())


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
