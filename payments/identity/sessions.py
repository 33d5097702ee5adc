"""Sessions of wallets that have signed in. Only the digest of a token is stored."""

import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from accounts.api_keys.authentication import MissingCredentials, Unauthorized
from framework.errors import NotFound
from payments.identity import queries
from payments.identity.challenge_verification import spend_challenge, verify_signature
from payments.identity.siwx import SignIn
from payments.models import Wallet, WalletSession
from payments.tiers import holdings

LIFETIME = timedelta(hours=12)
# Expired sessions are kept for this long, so that the error can say that they have expired.
RETENTION = timedelta(days=1)
MAX_LISTED = 50
TOKEN = re.compile(r"ws_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class NewSession:
    """A new session with its token, which is not stored."""

    token: str
    wallet: Wallet


def open_session(sign_in: SignIn, *, now: datetime) -> NewSession:
    """Open a session for the wallet that signed; one trip to the chain, two for a contract wallet.

    Raises InvalidSignature, ChallengeAlreadyUsed, and RpcUnavailable if the chain is not available and the wallet has
    no tier; the challenge can then be used again.
    """
    verify_signature(sign_in)
    wallet = holdings.load_wallet(sign_in.address, now=now)
    token = f"ws_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        spend_challenge(sign_in)
        WalletSession.objects.create(
            wallet=wallet, nonce=sign_in.nonce, digest=hash_token(token), created_at=now, expires_at=now + LIFETIME
        )
    return NewSession(token=token, wallet=wallet)


def find_session(token: str, *, now: datetime) -> WalletSession:
    """Return the session of a token, its wallet loaded `with_plan`. At most one query. Raises Unauthorized."""
    if not TOKEN.fullmatch(token):
        raise Unauthorized("This is not the token of a wallet session: a letter is missing or mistyped.")
    found = queries.load_session(hash_token(token), now=now)
    if found is None:
        raise Unauthorized("There is no such wallet session.")
    if found.revoked_at is not None:
        raise Unauthorized("This wallet session was closed; open another.")
    if found.expires_at <= now:
        raise Unauthorized("This wallet session has expired; open another.")
    return found


def close_session(token: str | None, *, now: datetime) -> None:
    """Close the session of a token. Raises Unauthorized if there is no open one."""
    if token is None:
        raise MissingCredentials("Send the token of the session: `Authorization: Bearer ws_...`.")
    WalletSession.objects.filter(pk=find_session(token, now=now).pk, revoked_at=None).update(revoked_at=now)


def list_open_sessions(wallets: Collection[str], *, now: datetime) -> list[WalletSession]:
    """Return the open sessions of these wallets, newest first, at most MAX_LISTED. One query."""
    open_sessions = WalletSession.objects.filter(wallet__in=wallets, revoked_at=None, expires_at__gt=now)
    return list(open_sessions.order_by("-created_at", "-pk")[:MAX_LISTED])


def end_session(session: UUID, *, wallets: Collection[str], now: datetime) -> bool:
    """End a session of one of these wallets; False if it had ended. At most two statements. Raises NotFound."""
    found = WalletSession.objects.filter(pk=session, wallet__in=wallets)
    if found.filter(revoked_at=None, expires_at__gt=now).update(revoked_at=now):
        return True
    if not found.exists():
        raise NotFound("There is no such wallet session.")
    return False


def purge_expired_sessions(now: datetime) -> int:
    """Delete the sessions that expired more than RETENTION ago, and return their number."""
    deleted, _ = WalletSession.objects.filter(expires_at__lt=now - RETENTION).delete()
    return deleted


def hash_token(token: str) -> str:
    """Return the stored digest of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
