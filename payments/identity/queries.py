"""SQL that loads the wallets and plans of an address, an account or a session, one prepared statement each.

`Wallet.objects.with_plan` is the same for other callers; the ORM takes ten times as long to build that query as
PostgreSQL to answer it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from framework.db import prepared_statements
from framework.db.prepared_statements import Row
from payments.models import Plan, Wallet, WalletSession

ModelT = TypeVar("ModelT", bound=Model)


def _fields(model: type[Model]) -> Sequence[Any]:
    return model._meta.concrete_fields


def _columns(model: type[Model], alias: str) -> str:
    return ", ".join(f"{alias}.{field.column}" for field in _fields(model))


def _is_current(plan: str) -> str:
    return f"({plan}.valid_until IS NULL OR {plan}.valid_until > %(now)s) AND {plan}.valid_from <= %(now)s"


WITH_PLANS = f"{_columns(Wallet, 'wallet')}, {_columns(Plan, 'own')}, {_columns(Plan, 'shared')}"
OF_ACCOUNT = f"""
SELECT {WITH_PLANS}
FROM (SELECT %(account)s::uuid AS id) AS wanted
LEFT JOIN payments_plan AS shared ON shared.account_id = wanted.id AND {_is_current("shared")}
LEFT JOIN payments_wallet AS wallet ON wallet.account_id = wanted.id
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_is_current("own")}
"""  # noqa: S608  # names of our own columns
OF_ADDRESS = f"""
SELECT {WITH_PLANS}
FROM payments_wallet AS wallet
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_is_current("own")}
LEFT JOIN payments_plan AS shared ON shared.account_id = wallet.account_id AND {_is_current("shared")}
WHERE wallet.address = %(address)s
"""  # noqa: S608  # names of our own columns
OF_SESSION = f"""
SELECT {WITH_PLANS}, {_columns(WalletSession, "session")}
FROM payments_walletsession AS session
JOIN payments_wallet AS wallet ON wallet.address = session.wallet_id
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_is_current("own")}
LEFT JOIN payments_plan AS shared ON shared.account_id = wallet.account_id AND {_is_current("shared")}
WHERE session.digest = %(digest)s
"""  # noqa: S608  # names of our own columns


def load_account_wallets(account: UUID, *, now: datetime) -> tuple[list[Wallet], Plan | None]:
    """Return the wallets of an account and its current plan. One query."""
    found = [_build_wallet(row) for row in prepared_statements.fetch_all(OF_ACCOUNT, {"account": account, "now": now})]
    return [wallet for wallet, _ in found if wallet], found[0][1]


def load_wallet(address: str, *, now: datetime) -> Wallet | None:
    """Return the wallet of an address in lower case; None without a row. One query."""
    row = prepared_statements.fetch_one(OF_ADDRESS, {"address": address, "now": now})
    return _build_wallet(row)[0] if row else None


def load_session(digest: str, *, now: datetime) -> WalletSession | None:
    """Return the session with this digest of its token, and its wallet. One query."""
    row = prepared_statements.fetch_one(OF_SESSION, {"digest": digest, "now": now})
    if row is None:
        return None
    wallet, _ = _build_wallet(row)
    session = _build(WalletSession, row[-len(_fields(WalletSession)) :])
    if wallet is not None and session is not None:
        wallet.session, session.wallet = session, wallet
    return session


def _build_wallet(row: Row) -> tuple[Wallet | None, Plan | None]:
    """Build the wallet with its plans from the columns of WITH_PLANS, and the account's plan also without a wallet."""
    wallet_width, plan_width = len(_fields(Wallet)), len(_fields(Plan))
    shared = _build(Plan, row[wallet_width + plan_width : wallet_width + 2 * plan_width])
    wallet = _build(Wallet, row[:wallet_width])
    if wallet is not None:
        wallet.own_plan = _build(Plan, row[wallet_width : wallet_width + plan_width])
        wallet.account_plan = shared
    return wallet, shared


def _build(model: type[ModelT], values: Sequence[object]) -> ModelT | None:
    """Return the row of these columns; None if an outer join found none."""
    if all(value is None for value in values):
        return None
    return model.from_db(DEFAULT_DB_ALIAS, [field.attname for field in _fields(model)], values)
