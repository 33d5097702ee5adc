"""Choices and formats that several models share."""

from payments.tiers.definitions import TIERS

TIER_CHOICES = [(name, name.capitalize()) for name in TIERS]


def shorten_address(address: str) -> str:
    """Format an address for people: 0x1234…abcd."""
    return f"{address[:6]}…{address[-4:]}"
