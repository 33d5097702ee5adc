"""Payments in the data export of an account, and the guards against closing an account."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts import data_export
from accounts.models import Account
from payments.ledger import transitions
from payments.models import Billing, Invoice, Payment, Plan


def export_payments(account: Account) -> Iterator[dict[str, Any]]:
    for payment in data_export.iterate_in_batches(Payment.objects.filter(payer__in=account.wallets.values("address"))):
        yield {
            name: getattr(payment, name)
            for name in (
                "id", "state", "network", "payer", "pay_to", "amount_usdc", "resource", "products", "tx_hash",
                "created_at", "settled_at", "refunded_at",
            )
        }  # fmt: skip


def export_billing(account: Account) -> Iterator[dict[str, Any]]:
    for row in Billing.objects.filter(pk=account.pk).values("address", "monthly_limit_usdc", "alert_percents"):
        yield {**row}


def export_invoices(account: Account) -> Iterator[dict[str, Any]]:
    for row in Invoice.objects.filter(account=account).values("month", "name", "address", "wallets", "created_at"):
        yield {**row}


def erase_refund_requests(account: Account, now: datetime) -> None:
    """Erase what the members wrote in their refund requests."""
    del now
    transitions.erase_refund_requests(Payment.objects.filter(payer__in=account.wallets.values("address")))


def has_plan(account: Account, now: datetime) -> str | None:
    """Refuse to close an account with a plan, also an ended one: accounting needs it."""
    if not Plan.objects.filter(account=account).exists():
        return None
    return _("The account has a contract with us. Write to us, and we end it with you.")


def has_open_payment(account: Account, now: datetime) -> str | None:
    """Refuse to close an account with a payment that is not settled, or whose refund is due."""
    is_open = Q(state__in=(Payment.State.CLAIMED, Payment.State.UNKNOWN, Payment.State.REFUND_DUE))
    if not Payment.objects.filter(is_open, payer__in=account.wallets.values("address")).exists():
        return None
    return (
        "A payment of one of your wallets is not settled, or is to be sent back to you. Close the account after that."
    )
