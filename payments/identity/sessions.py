"""Sessions of wallets that have signed in. Only the digest of a token is stored."""

import hashlib
import re
import secrets
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Model

from accounts.api_keys.authentication import MissingCredentials, Unauthorized
from framework.db import prepared_statements
from framework.errors import NotFound
from payments.identity.siwx import SignIn, spend_challenge, verify_signature
from payments.models import Plan, Wallet, WalletSession
from payments.tiers import holdings

LIFETIME = timedelta(hours=12)
# Expired sessions are kept for this long, so that the error can say that they have expired.
RETENTION = timedelta(days=1)
MAX_LISTED = 50
TOKEN = re.compile(r"ws_[A-Za-z0-9_-]{43}")
ModelT = TypeVar("ModelT", bound=Model)


def _columns(model: type[Model], alias: str) -> str:
    return ", ".join(f"{alias}.{field.column}" for field in model._meta.concrete_fields)


# A session, and its wallet as `Wallet.objects.with_plan` loads it. The ORM takes ten times as long to build this query
# as PostgreSQL to answer it, and every request of a session makes it.
FIND = f"""
SELECT {_columns(WalletSession, "session")}, {_columns(Wallet, "wallet")}, {_columns(Plan, "own")},
    {_columns(Plan, "shared")}
FROM payments_walletsession AS session
JOIN payments_wallet AS wallet ON wallet.address = session.wallet_id
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address
    AND (own.valid_until IS NULL OR own.valid_until > %(now)s) AND own.valid_from <= %(now)s
LEFT JOIN payments_plan AS shared ON shared.account_id = wallet.account_id
    AND (shared.valid_until IS NULL OR shared.valid_until > %(now)s) AND shared.valid_from <= %(now)s
WHERE session.digest = %(digest)s
"""  # noqa: S608  # names of our own columns


def open_session(sign_in: SignIn, *, now: datetime) -> tuple[str, Wallet]:
    """Open a session for the wallet that signed, and return its token, which is not stored, and the wallet.

    One trip to the chain, two for a contract wallet.
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
    return token, wallet


def find_session(token: str, *, now: datetime) -> WalletSession:
    """Return the session of a token, its wallet loaded `with_plan`. At most one query. Raises Unauthorized."""
    if not TOKEN.fullmatch(token):
        raise Unauthorized("This is not the token of a wallet session: a letter is missing or mistyped.")
    row = prepared_statements.fetch_one(FIND, {"digest": hash_token(token), "now": now})
    if row is None:
        raise Unauthorized("There is no such wallet session.")
    columns = iter(row)
    found, wallet = _build(WalletSession, columns), _build(Wallet, columns)
    assert found is not None and wallet is not None  # noqa: S101, PT018 - of inner joins
    wallet.own_plan, wallet.account_plan = _build(Plan, columns), _build(Plan, columns)
    wallet.session, found.wallet = found, wallet
    if found.revoked_at is not None:
        raise Unauthorized("This wallet session was closed; open another.")
    if found.expires_at <= now:
        raise Unauthorized("This wallet session has expired; open another.")
    return found


def _build(model: type[ModelT], columns: Iterator[object]) -> ModelT | None:
    """Return the row of the next columns; None if an outer join found none."""
    names = [field.attname for field in model._meta.concrete_fields]
    values = list(islice(columns, len(names)))
    return None if all(value is None for value in values) else model.from_db(DEFAULT_DB_ALIAS, names, values)


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
    return hashlib.sha256(token.encode()).hexdigest()
