"""Demo data of a fresh installation: three accounts with API keys, and a superuser for the back office.

Secrets are known only when they are created. `load` takes those of the previous run and keeps those that still work.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.models import Account, ApiKey, Membership, Role, User, Venue

SUPERUSER = "admin@example.com"
# The venue that gets a menu, tables and hours; the others are as empty as a new customer's.
FURNISHED = "Demo Osteria"
DEMOS = ("Demo Trattoria", "Demo Bistro", FURNISHED)
LOAD_TEST_ALLOWANCE = 1_000_000


def load(previous: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Create what is missing; return {"management": {name: text of a key}, "admin": {username, password}}.

    The password is None if it was changed.
    """
    previous = previous or {}
    texts: Mapping[str, Any] = previous.get("management") or {}
    with transaction.atomic():
        management: dict[str, str | None] = {}
        for prefix, venue in {"": get_venue(DEMOS[0]), "other_": get_venue(DEMOS[1], "Europe/Paris")}.items():
            for name, label, allowance in (
                (f"{prefix}api_key", "First key", 1000),
                (f"wide_{prefix}api_key", "For load tests", LOAD_TEST_ALLOWANCE),
            ):
                management[name] = get_key(venue, label, texts.get(name), allowance=allowance)
        management["menu_api_key"] = get_key(get_furnished_venue(), "First key", texts.get("menu_api_key"))
        admin = get_superuser((previous.get("admin") or {}).get("password"))
        # An owner of the demo accounts can open their dashboards.
        user = User.objects.get(email__iexact=SUPERUSER)
        for account in Account.objects.filter(venues__name__in=DEMOS).distinct():
            Membership.objects.get_or_create(account=account, user=user, defaults={"role": Role.OWNER})
        return {"management": management, "admin": admin}


def get_furnished_venue() -> Venue:
    """Return the venue that orders.seed gives a menu, and reservations.seed tables and hours."""
    return get_venue(FURNISHED)


def get_venue(name: str, timezone: str = "Europe/Rome") -> Venue:
    """Return the oldest sandbox venue of the demo account of this name; create what is missing."""
    account = Account.objects.filter(name=name).order_by("created_at", "id").first()
    if account is None:
        account = Account.objects.create(name=name)
    venue = account.venues.filter(name=name).order_by("created_at", "id").first()
    return venue or account.venues.create(name=name, timezone=timezone, currency="EUR", is_sandbox=True)


def get_key(venue: Venue, name: str, text: str | None, *, allowance: int = 1000) -> str:
    """Return the text of the key if it still works, otherwise of a new key."""
    if text and ApiKey.objects.with_text(text).filter(venue=venue, revoked_at=None, expires_at=None).exists():
        return text
    return ApiKey.create(venue, name=name, allowance=allowance).text


def get_superuser(password: str | None) -> dict[str, str | None]:
    """Return the superuser, created if missing; the password is None if the given one does not work."""
    user = User.objects.filter(email__iexact=SUPERUSER).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser(SUPERUSER, password)
    elif not (password and user.check_password(password)):
        password = None
    return {"username": SUPERUSER, "password": password}
