"""Sessions of wallets that have signed in. Of a token only its digest is kept."""

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
from payments.identity import challenge_verification, queries
from payments.identity.siwx import SignIn
from payments.models import Wallet, WalletSession
from payments.tiers import holdings

LASTS = timedelta(hours=12)
# So long after its end a session still says that it has expired; then nothing is known of it.
KEPT = timedelta(days=1)
# On a page; nobody has more but who forgets to end them.
MOST_SHOWN = 50
TOKEN = re.compile(r"ws_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that was just opened; its token is told this once."""

    token: str
    wallet: Wallet


def open_with(sign_in: SignIn, *, now: datetime) -> Opened:
    """Open a session of the wallet that signed; one trip to the chain, two for a contract wallet.

    Raises WrongSignature and ChallengeSpent, and RpcUnavailable where the chain is away and nothing is known of the
    wallet; then the challenge is still good.
    """
    challenge_verification.check(sign_in)
    wallet = holdings.of(sign_in.address, now=now)
    token = f"ws_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        challenge_verification.spend(sign_in)
        WalletSession.objects.create(
            wallet=wallet, nonce=sign_in.nonce, digest=digest_of(token), created_at=now, expires_at=now + LASTS
        )
    return Opened(token=token, wallet=wallet)


def of_token(token: str, *, now: datetime) -> WalletSession:
    """The session of this token, its wallet found `with_plan`. One query; none for no token. Raises Unauthorized."""
    if not TOKEN.fullmatch(token):
        raise Unauthorized("This is not the token of a wallet session: a letter is missing or mistyped.")
    found = queries.of_session(digest_of(token), now=now)
    if found is None:
        raise Unauthorized("There is no such wallet session.")
    if found.revoked_at is not None:
        raise Unauthorized("This wallet session was closed; open another.")
    if found.expires_at <= now:
        raise Unauthorized("This wallet session has expired; open another.")
    return found


def close(token: str | None, *, now: datetime) -> None:
    """End the session of this token. Raises Unauthorized for what is no session, or not any more."""
    if token is None:
        raise MissingCredentials("Send the token of the session: `Authorization: Bearer ws_...`.")
    WalletSession.objects.filter(pk=of_token(token, now=now).pk, revoked_at__isnull=True).update(revoked_at=now)


def open_of(wallets: Collection[str], *, now: datetime) -> list[WalletSession]:
    """The sessions of these wallets that are open, newest first; fifty at most. One query."""
    theirs = WalletSession.objects.filter(wallet__in=wallets, revoked_at=None, expires_at__gt=now)
    return list(theirs.order_by("-created_at", "-pk")[:MOST_SHOWN])


def end(session: UUID, *, wallets: Collection[str], now: datetime) -> bool:
    """End one of these wallets' sessions; False where it had ended. One UPDATE, two queries where it changes nothing.

    Raises NotFound for a session that is not theirs.
    """
    mine = WalletSession.objects.filter(pk=session, wallet__in=wallets)
    if mine.filter(revoked_at=None, expires_at__gt=now).update(revoked_at=now):
        return True
    if not mine.exists():
        raise NotFound("There is no such wallet session.")
    return False


def purge(now: datetime) -> int:
    """Delete the sessions that expired more than a day ago, and say how many. Their challenges are long over."""
    deleted, _ = WalletSession.objects.filter(expires_at__lt=now - KEPT).delete()
    return deleted


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
