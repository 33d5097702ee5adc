"""The accounts of a fresh installation: two customers to try the API as, and a superuser for the admin.

Secrets are known only when they are made. `earlier` hands those of the last run back in, and what still works is kept.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.models import Account, ApiKey, User, Venue

SUPERUSER = "admin@example.com"
WIDE = 1_000_000


def load(earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Create what is missing; return {"management": {name of key: its text}, "admin": {username, password}}."""
    known = earlier or {}
    keys: Mapping[str, Any] = known.get("management") or {}
    with transaction.atomic():
        venues = {"": venue("Demo Trattoria", "Europe/Rome"), "other_": venue("Demo Bistro", "Europe/Paris")}
        management: dict[str, str | None] = {}
        for prefix, its in venues.items():
            management[f"{prefix}api_key"] = key(its, "First key", keys.get(f"{prefix}api_key"))
            wide = f"wide_{prefix}api_key"
            management[wide] = key(its, "For load tests", keys.get(wide), allowance=WIDE)
        return {"management": management, "admin": superuser((known.get("admin") or {}).get("password"))}


def venue(name: str, timezone: str) -> Venue:
    """The sandbox venue of a demo account of the same name."""
    account, _ = Account.objects.get_or_create(name=name)
    found, _ = Venue.objects.get_or_create(
        account=account, name=name, defaults={"timezone": timezone, "currency": "EUR", "is_sandbox": True}
    )
    return found


def key(venue: Venue, name: str, text: str | None, *, allowance: int = 1000) -> str:
    """The key of this text while it works, else a new one."""
    if text and ApiKey.objects.of_text(text).filter(venue=venue, revoked_at=None, expires_at=None).exists():
        return text
    return ApiKey.issue(venue, name=name, allowance=allowance).text


def superuser(password: str | None) -> dict[str, str]:
    """The superuser, under the password of the last run if it still opens the door."""
    user = User.objects.filter(email=SUPERUSER).first()
    if user is None or not password or not user.check_password(password):
        password = secrets.token_urlsafe(12)
        if user is None:
            User.objects.create_superuser(SUPERUSER, password)
        else:
            user.set_password(password)
            user.save(update_fields=["password"])
    return {"username": SUPERUSER, "password": password}
