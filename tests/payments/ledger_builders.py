"""Payments with valid defaults for every field."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from payments.models import Payment

PAYER = "0x" + "ab" * 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def payment(number: int = 0, **values: Any) -> Payment:
    """Create a payment; each number has a transaction of its own."""
    fields: dict[str, Any] = {
        "form": Payment.Form.TX,
        "state": Payment.State.SETTLED,
        "network": "eip155:84532",
        "asset": "0x" + "11" * 20,
        "payer": PAYER,
        "pay_to": "0x" + "22" * 20,
        "amount_usdc": Decimal("0.002"),
        "proof_key": f"tx:{number}",
        "purchase": "0" * 64,
        "resource": "https://api.example.com/v1/restaurants/noma?fields=context",
        "products": ["context"],
        "tier": "free",
        "tx_hash": f"0x{number:064x}",
        "created_at": NOW,
        "claimed_at": NOW,
        "settled_at": NOW,
    }
    fields |= values
    # Open and expired payments have no block.
    return Payment.objects.create(**{"block": 1 if fields["state"] in Payment.PAID else None} | fields)


def refund_due(number: int = 0, **values: Any) -> Payment:
    """Create a payment that is refund due, because it arrived too late."""
    return payment(number, **{"state": Payment.State.REFUND_DUE, "error": "too_old"} | values)
