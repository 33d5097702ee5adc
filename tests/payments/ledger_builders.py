"""Lines of the ledger that are right, but for what a test says of them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from payments.models import Payment

PAYER = "0x" + "ab" * 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def payment(number: int = 0, **values: Any) -> Payment:
    """A line of the ledger; those of different numbers are of different transactions."""
    told: dict[str, Any] = {
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
    told |= values
    # Of what is open or given up the chain has shown nothing.
    return Payment.objects.create(**{"block": 1 if told["state"] in Payment.PAID else None} | told)


def owed(number: int = 0, **values: Any) -> Payment:
    """A line of money that is to be sent back: it came too late to buy anything."""
    return payment(number, **{"state": Payment.State.REFUND_DUE, "error": "too_old"} | values)
