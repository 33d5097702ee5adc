"""The accounts of a fresh installation: three customers to try the API as, and a superuser for the
admin.

Secrets are known only when they are made. `earlier` hands those of the last run back in, and what still works is kept.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.models import Account, ApiKey, Membership, Role, User, Venue

SUPERUSER = "admin@example.com"
# The venue that gets a menu, tables and hours; the others are as bare as a new customer's.
FURNISHED = "Demo Osteria"
DEMOS = ("Demo Trattoria", "Demo Bistro", FURNISHED)
WIDE = 1_000_000


def load(earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Create what is missing; return {"management": {name of key: its text}, "admin": {username, password}}.

    The password is None when somebody has changed it.
    """
    known = earlier or {}
    keys: Mapping[str, Any] = known.get("management") or {}
    with transaction.atomic():
        venues = {"": venue(DEMOS[0], "Europe/Rome"), "other_": venue(DEMOS[1], "Europe/Paris")}
        management: dict[str, str | None] = {}
        for prefix, its in venues.items():
            management[f"{prefix}api_key"] = key(its, "First key", keys.get(f"{prefix}api_key"))
            wide = f"wide_{prefix}api_key"
            management[wide] = key(its, "For load tests", keys.get(wide), allowance=WIDE)
        management["menu_api_key"] = key(furnished(), "First key", keys.get("menu_api_key"))
        admin = superuser((known.get("admin") or {}).get("password"))
        show_to_superuser()
        return {"management": management, "admin": admin}


def furnished() -> Venue:
    """The venue that orders.seed gives a menu, and reservations.seed tables and hours."""
    return venue(FURNISHED, "Europe/Rome")


def venue(name: str, timezone: str) -> Venue:
    """The sandbox venue of the demo account of the same name; of several that are called so, the oldest."""
    account = Account.objects.filter(name=name).order_by("created_at", "id").first()
    if account is None:
        account = Account.objects.create(name=name)
    found = account.venues.filter(name=name).order_by("created_at", "id").first()
    if found is None:
        found = account.venues.create(name=name, timezone=timezone, currency="EUR", is_sandbox=True)
    return found


def key(venue: Venue, name: str, text: str | None, *, allowance: int = 1000) -> str:
    """The key of this text while it works, else a new one."""
    if text and ApiKey.objects.of_text(text).filter(venue=venue, revoked_at=None, expires_at=None).exists():
        return text
    return ApiKey.issue(venue, name=name, allowance=allowance).text


def superuser(password: str | None) -> dict[str, str | None]:
    """The superuser. One who is there keeps the password: the known one is told if it still works, else None."""
    user = User.objects.filter(email__iexact=SUPERUSER).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser(SUPERUSER, password)
    elif not (password and user.check_password(password)):
        password = None
    return {"username": SUPERUSER, "password": password}


def show_to_superuser() -> None:
    """Make the superuser an owner of the demo accounts, so that their dashboards can be looked at."""
    user = User.objects.get(email__iexact=SUPERUSER)
    for account in Account.objects.filter(venues__name__in=DEMOS).distinct():
        Membership.objects.get_or_create(account=account, user=user, defaults={"role": Role.OWNER})
