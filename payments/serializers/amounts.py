"""The fields of amounts, tiers, addresses and times."""

from typing import Any

from rest_framework import serializers

from payments.chain import evm
from payments.tiers.definitions import TIERS


class Amount(serializers.DecimalField):
    """A decimal number as text, without trailing zeros."""

    def __init__(self, *, decimal_places: int, **options: Any) -> None:
        super().__init__(max_digits=60, decimal_places=decimal_places, normalize_output=True, **options)


class Tier(serializers.ChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(choices=list(TIERS), **options)


class Time(serializers.DateTimeField):
    """A time in UTC, to the second."""

    def __init__(self, **options: Any) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M:%SZ", **options)


class Address(serializers.RegexField):
    """An address with the capitals of EIP-55."""

    def __init__(self, **options: Any) -> None:
        super().__init__(evm.ADDRESS, **options)

    def to_representation(self, value: str) -> str:
        return evm.to_checksum_address(value)
