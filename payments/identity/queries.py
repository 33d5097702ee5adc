"""What stands behind a credential, wallets with their plans, each read by one prepared statement.

`Wallet.objects.with_plan` says the same for everybody else; to put that query together anew for each call takes ten
times what PostgreSQL needs to answer it.
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

Made = TypeVar("Made", bound=Model)


def _fields(model: type[Model]) -> Sequence[Any]:
    return model._meta.concrete_fields


def _columns(model: type[Model], alias: str) -> str:
    return ", ".join(f"{alias}.{field.column}" for field in _fields(model))


def _holds(plan: str) -> str:
    return f"({plan}.valid_until IS NULL OR {plan}.valid_until > %(now)s) AND {plan}.valid_from <= %(now)s"


WITH_PLANS = f"{_columns(Wallet, 'wallet')}, {_columns(Plan, 'own')}, {_columns(Plan, 'shared')}"
OF_ACCOUNT = f"""
SELECT {WITH_PLANS}
FROM (SELECT %(account)s::uuid AS id) AS asked
LEFT JOIN payments_plan AS shared ON shared.account_id = asked.id AND {_holds("shared")}
LEFT JOIN payments_wallet AS wallet ON wallet.account_id = asked.id
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_holds("own")}
"""  # noqa: S608  # names of our own columns
OF_ADDRESS = f"""
SELECT {WITH_PLANS}
FROM payments_wallet AS wallet
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_holds("own")}
LEFT JOIN payments_plan AS shared ON shared.account_id = wallet.account_id AND {_holds("shared")}
WHERE wallet.address = %(address)s
"""  # noqa: S608  # names of our own columns
OF_SESSION = f"""
SELECT {WITH_PLANS}, {_columns(WalletSession, "session")}
FROM payments_walletsession AS session
JOIN payments_wallet AS wallet ON wallet.address = session.wallet_id
LEFT JOIN payments_plan AS own ON own.wallet_id = wallet.address AND {_holds("own")}
LEFT JOIN payments_plan AS shared ON shared.account_id = wallet.account_id AND {_holds("shared")}
WHERE session.digest = %(digest)s
"""  # noqa: S608  # names of our own columns


def of_account(account: UUID, *, now: datetime) -> tuple[list[Wallet], Plan | None]:
    """The wallets that are linked to the account, and its plan that holds now. One query."""
    found = [_read(row) for row in prepared_statements.fetch_all(OF_ACCOUNT, {"account": account, "now": now})]
    return [wallet for wallet, _ in found if wallet], found[0][1]


def of_address(address: str, *, now: datetime) -> Wallet | None:
    """The wallet at this address in small letters, None where it has no row. One query."""
    row = prepared_statements.fetch_one(OF_ADDRESS, {"address": address, "now": now})
    return _read(row)[0] if row else None


def of_session(digest: str, *, now: datetime) -> WalletSession | None:
    """The session that keeps this digest of its token, with its wallet. One query."""
    row = prepared_statements.fetch_one(OF_SESSION, {"digest": digest, "now": now})
    if row is None:
        return None
    wallet, _ = _read(row)
    session = _made(WalletSession, row[-len(_fields(WalletSession)) :])
    if wallet is not None and session is not None:
        wallet.session, session.wallet = session, wallet
    return session


def _read(row: Row) -> tuple[Wallet | None, Plan | None]:
    """The wallet with its plans, as the columns of WITH_PLANS tell; and that of its account, also without a wallet."""
    of_wallet, of_plan = len(_fields(Wallet)), len(_fields(Plan))
    shared = _made(Plan, row[of_wallet + of_plan : of_wallet + 2 * of_plan])
    wallet = _made(Wallet, row[:of_wallet])
    if wallet is not None:
        wallet.own_plan = _made(Plan, row[of_wallet : of_wallet + of_plan])
        wallet.account_plan = shared
    return wallet, shared


def _made(model: type[Made], values: Sequence[object]) -> Made | None:
    """The row of these columns, None where a join found none."""
    if all(value is None for value in values):
        return None
    return model.from_db(DEFAULT_DB_ALIAS, [field.attname for field in _fields(model)], values)
