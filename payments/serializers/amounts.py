"""The fields of amounts, tiers, addresses and times."""

from functools import partial
from typing import Any

from rest_framework import serializers

from payments.chain import evm
from payments.tiers.definitions import TIERS

# Without trailing zeros.
Amount = partial(serializers.DecimalField, max_digits=60, normalize_output=True)
Tier = partial(serializers.ChoiceField, choices=list(TIERS))
# In UTC, to the second.
Time = partial(serializers.DateTimeField, format="%Y-%m-%dT%H:%M:%SZ")


class Address(serializers.RegexField):
    """An address with the capitals of EIP-55."""

    def __init__(self, **options: Any) -> None:
        super().__init__(evm.ADDRESS, **options)

    def to_representation(self, value: str) -> str:
        return evm.to_checksum_address(value)
