"""The shapes of linked wallets."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from payments.chain.evm import ADDRESS
from payments.serializers.amounts import MOMENT, TIER_NAMES, Amount
from payments.serializers.me import RiseRecord


class WalletRecord(serializers.Serializer[Any]):
    """A wallet, and what was last read of it."""

    address = serializers.RegexField(ADDRESS, help_text="With the capitals of EIP-55.")
    tier = serializers.ChoiceField(choices=TIER_NAMES, source="tier.name", help_text="By its holding, and by a plan.")
    rising = RiseRecord(allow_null=True)
    holdings_usd = Amount(decimal_places=6)
    staked = Amount(decimal_places=18, help_text="In whole tokens.")
    read_at = serializers.DateTimeField(format=MOMENT, allow_null=True, help_text="Null: not read from the chain yet.")


# By its one field drf-spectacular takes it for a list.
@extend_schema_serializer(many=False)
class WalletsAnswer(serializers.Serializer[Any]):
    """All wallets of an account, or the one of a session."""

    data = WalletRecord(many=True)  # type: ignore[assignment]  # a name of the contract
