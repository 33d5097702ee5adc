"""Buys what lies around a restaurant by calls of its tool."""

from decimal import Decimal
from typing import Any

from django.test import Client

from payments.x402.proofs import PAYMENT_META
from tests.mcp.client import TOKEN, call

AROUND = "get_surroundings"
PRICE = Decimal("0.002")


def again(client: Client, payment: Any, tool: str = AROUND, *, token: str | None = None, **arguments: Any) -> Any:
    """The result of a call with this payment."""
    beside = {PAYMENT_META: payment, **({TOKEN: token} if token else {})}
    return call(client, tool, meta=beside, **(arguments or {"slug": "noma"}))


def is_content(result: Any) -> bool:
    """Whether this is what was paid for."""
    return "isError" not in result and result["structuredContent"]["entries"][0]["name"] == "Tivoli Gardens"
