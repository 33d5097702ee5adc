"""Formats amounts and times for people."""

from datetime import UTC, datetime
from decimal import Decimal


def format_amount(amount: Decimal | None, *, missing: str = "not sold") -> str:
    """Return an amount without trailing zeros, as 0.004."""
    return missing if amount is None else f"{amount.normalize():f}"


def format_time(moment: datetime) -> str:
    """Return a time in UTC, as 2026-12-01 00:00 UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
