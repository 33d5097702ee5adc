"""How amounts, tiers and moments are written."""

from typing import Any

from rest_framework import serializers

from payments.tiers.definitions import TIERS

TIER_NAMES = list(TIERS)
MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class Amount(serializers.DecimalField):
    """A decimal number as text, without needless zeros."""

    def __init__(self, *, decimal_places: int, **options: Any) -> None:
        super().__init__(max_digits=60, decimal_places=decimal_places, normalize_output=True, **options)
