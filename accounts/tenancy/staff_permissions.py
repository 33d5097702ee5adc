"""What our own staff may do in the back office, by the name of their group.

The groups are rows (a migration made them, superusers put people in); what each may do stands here, in code, so that a
deployment changes it for everybody and nothing has to be kept equal.
"""

from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.contrib.auth.backends import ModelBackend

from accounts.models import User

DATA_EDITOR, FINANCE, SUPPORT = "Data editor", "Finance", "Support"

VIEW = ("view",)
EDIT = ("view", "add", "change")
# Models of an app that have other verbs than the app has.
Verbs = Mapping[str, tuple[str, ...]]

# By role: app, the verbs of its models, and models that have others.
ROLES: Mapping[str, Mapping[str, tuple[tuple[str, ...], Verbs]]] = {
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
def permissions_of_role(name: str) -> frozenset[str]:
    """What the group of this name may do; nothing for a name that is no role."""
    return frozenset(
        f"{app}.{verb}_{model.__name__.lower()}"
        for app, (verbs, others) in ROLES.get(name, {}).items()
        for model in apps.get_app_config(app).get_models()
        for verb in others.get(model.__name__.lower(), verbs)
    )


def permissions_of(user: User) -> frozenset[str]:
    """What somebody of our staff may do: by their groups' names, and by rows that a superuser gave them.

    Nothing for who is not of our staff, whatever group they are in. At most three queries, once for each `user`.
    """
    if not (user.is_active and user.is_staff):
        return frozenset()
    found: frozenset[str] | None = user.__dict__.get("_staff_permissions")
    if found is None:
        roles = user.groups.values_list("name", flat=True)
        named = frozenset[str]().union(*map(permissions_of_role, roles))
        found = user.__dict__["_staff_permissions"] = named | ModelBackend().get_all_permissions(user)
    return found


def holds(user: User, permission: str) -> bool:
    """Whether the user may do this everywhere: as a superuser, or as one of our staff."""
    return user.is_active and (user.is_superuser or permission in permissions_of(user))
