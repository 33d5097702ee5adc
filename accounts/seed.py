"""What a fresh installation begins with: three demo accounts with API keys, the owner of one, and a superuser.

Secrets are known only when they are created. `load` takes those of the previous run and keeps those that still work.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from allauth.account.models import EmailAddress
from django.db import transaction

from accounts.models import Account, ApiKey, Membership, Role, User, Venue
from accounts.models.api_keys import all_scopes, default_scopes

SUPERUSER = "admin@example.com"
# Signs in to the dashboard of the furnished venue, and has no other one.
OWNER = "demo@example.com"
# The venue that gets the demo data (accounts.demo); the others are as empty as a new customer's.
FURNISHED = "Demo Osteria"
DEMOS = ("Demo Trattoria", "Demo Bistro", FURNISHED)
LOAD_TEST_ALLOWANCE = 1_000_000


def load(previous: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Create what is missing; return the keys and sign-ins, a password that was changed as None.

    {"management": {name: text of a key}, "admin": {username, password}, "dashboard": {email, password, venue}}
    """
    previous = previous or {}
    texts: Mapping[str, Any] = previous.get("management") or {}
    with transaction.atomic():
        management: dict[str, str | None] = {}
        for prefix, venue in {"": get_venue(DEMOS[0]), "other_": get_venue(DEMOS[1], "Europe/Paris")}.items():
            for name, label, allowance, scopes in (
                (f"{prefix}api_key", "First key", 1000, default_scopes()),
                (f"wide_{prefix}api_key", "For load tests", LOAD_TEST_ALLOWANCE, all_scopes()),
            ):
                management[name] = get_key(venue, label, texts.get(name), allowance=allowance, scopes=scopes)
        furnished = get_furnished_venue()
        management["menu_api_key"] = get_key(furnished, "First key", texts.get("menu_api_key"))
        admin, admin_password = get_user(SUPERUSER, previous.get("admin"), is_staff=True, is_superuser=True)
        owner, owner_password = get_user(OWNER, previous.get("dashboard"))
        add_owner(furnished.account, owner)
        # The superuser can open the dashboards of all demo accounts.
        for account in Account.objects.filter(venues__name__in=DEMOS).distinct():
            add_owner(account, admin)
        if admin.last_venue_id is None:
            admin.remember_venue(furnished)
        return {
            "management": management,
            "admin": {"username": SUPERUSER, "password": admin_password},
            "dashboard": {"email": OWNER, "password": owner_password, "venue": furnished.public_id},
        }


def get_furnished_venue() -> Venue:
    return get_venue(FURNISHED, address="Via dei Serpenti 12, Roma", phone="+39 06 5550 0118")


def get_venue(name: str, timezone: str = "Europe/Rome", **details: str) -> Venue:
    """Return the oldest sandbox venue of the demo account of this name; create what is missing."""
    account = Account.objects.filter(name=name).order_by("created_at", "id").first()
    if account is None:
        account = Account.objects.create(name=name)
    venue = account.venues.filter(name=name).order_by("created_at", "id").first()
    return venue or account.venues.create(name=name, timezone=timezone, currency="EUR", is_sandbox=True, **details)


def get_key(
    venue: Venue, name: str, text: str | None, *, allowance: int = 1000, scopes: Sequence[str] | None = None
) -> str:
    """Return the text of the key if it still works, otherwise of a new key."""
    if text and ApiKey.objects.with_text(text).filter(venue=venue, revoked_at=None, expires_at=None).exists():
        return text
    return ApiKey.create(venue, name=name, allowance=allowance, scopes=scopes).text


def get_user(email: str, previous: Mapping[str, Any] | None, **flags: bool) -> tuple[User, str | None]:
    """Return the user, created if missing, and the password: None if that of the previous run does not work.

    A new user's address is confirmed, so that the sign-in asks for nothing else.
    """
    password = (previous or {}).get("password")
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        user = User.objects.create_user(email, password, **flags)
        EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    elif not (password and user.check_password(password)):
        password = None
    return user, password


def add_owner(account: Account, user: User) -> None:
    Membership.objects.get_or_create(account=account, user=user, defaults={"role": Role.OWNER})
