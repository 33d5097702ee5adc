"""Payments in the data export of an account, and what of them keeps an account from being closed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q

from accounts import data_export
from accounts.models import Account
from payments.models import Payment, Plan


def payments_of(account: Account) -> Iterator[dict[str, Any]]:
    """What its wallets have paid."""
    for one in data_export.iterate_in_batches(Payment.objects.filter(payer__in=account.wallets.values("address"))):
        yield {
            name: getattr(one, name)
            for name in (
                "id", "state", "network", "payer", "pay_to", "amount_usdc", "resource", "products", "tx_hash",
                "created_at", "settled_at", "refunded_at",
            )
        }  # fmt: skip


def has_a_plan(account: Account, now: datetime) -> str | None:
    """A contract, also one that is over: the books need it."""
    del now
    if not Plan.objects.filter(account=account).exists():
        return None
    return "The account has a contract with us. Write to us, and we end it with you."


def is_owed_money(account: Account, now: datetime) -> str | None:
    """Money that is on its way, or to be sent back."""
    del now
    open_ones = Q(state__in=(Payment.State.CLAIMED, Payment.State.UNKNOWN, Payment.State.REFUND_DUE))
    if not Payment.objects.filter(open_ones, payer__in=account.wallets.values("address")).exists():
        return None
    return (
        "A payment of one of your wallets is not settled, or is to be sent back to you. Close the account after that."
    )
