"""Bearer keys, believed for half a minute."""

import hashlib
import time
from dataclasses import dataclass

from django.db import connection
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

REMEMBERED_S = 30.0
FIND = """
SELECT key.id, plan.tier, plan.per_minute FROM accounts_apikey AS key
JOIN accounts_venue AS venue ON venue.id = key.venue_id
LEFT JOIN payments_plan AS plan ON plan.account_id = venue.account_id
    AND plan.valid_from <= now() AND (plan.valid_until IS NULL OR plan.valid_until > now())
WHERE key.digest = %s AND (key.revoked_at IS NULL OR key.revoked_at > now())
    AND (key.expires_at IS NULL OR key.expires_at > now())
"""


@dataclass(frozen=True)
class Caller:
    """Whose key it is."""

    bucket: str
    tier: str
    per_minute: int
    until: float
    is_authenticated: bool = True


known: dict[bytes, Caller] = {}


def caller_of(token: bytes) -> Caller | None:
    """The caller of a key, None where it is none."""
    name = hashlib.sha256(token).digest()
    caller = known.get(name)
    if caller is None or caller.until < time.monotonic():
        with connection.cursor() as cursor:
            cursor.execute(FIND, [name])
            row = cursor.fetchone()
        if row is None:
            return None
        caller = known[name] = Caller(row[0].hex, row[1] or "free", row[2] or 60, time.monotonic() + REMEMBERED_S)
    return caller


class BearerKey(BaseAuthentication):
    """`Authorization: Bearer <key>`."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Find the caller."""
        scheme, _, token = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        caller = caller_of(token)
        if caller is None:
            raise AuthenticationFailed("This key is not one of ours.")
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """What is asked for."""
        return "Bearer"
