"""The serializers of linked wallets."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from payments.serializers.amounts import Address, Amount, Tier, Time


class WalletRecord(serializers.Serializer[Any]):
    """A wallet and its holdings as last read."""

    address = Address(source="wallet.address", help_text="With the capitals of EIP-55.")
    tier = Tier(source="terms.tier.name", help_text="By its holdings, and by a plan.")
    pending_tier = Tier(
        source="terms.pending_tier.tier.name",
        allow_null=True,
        help_text="The tier that the holdings qualify for; null: none.",
    )
    pending_tier_at = Time(
        source="terms.pending_tier.at", allow_null=True, help_text="When it applies, if the holdings do not decrease."
    )
    holdings_usd = Amount(source="wallet.holdings_usd", decimal_places=6)
    staked = Amount(source="wallet.staked", decimal_places=18, help_text="In whole tokens.")
    read_at = Time(source="wallet.read_at", allow_null=True, help_text="Null: not read from the chain yet.")


# drf-spectacular takes a serializer with only the field `data` for a list.
@extend_schema_serializer(many=False)
class WalletsAnswer(serializers.Serializer[Any]):
    """All wallets of an account, or the wallet of a session."""

    data = WalletRecord(many=True)  # type: ignore[assignment]  # a name of the contract
