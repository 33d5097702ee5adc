"""Words of the models: the tiers to choose from, and how an address is told."""

from payments.tiers.definitions import TIERS

TIER_CHOICES = [(name, name.capitalize()) for name in TIERS]


def shortened(address: str) -> str:
    """An address as people tell it apart: 0x1234…abcd."""
    return f"{address[:6]}…{address[-4:]}"
