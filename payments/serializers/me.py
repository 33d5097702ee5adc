"""The serializers of the caller's profile and wallets."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from framework.api.fields import ConstantField
from payments.identity.caller import IdentifiedBy
from payments.models import Price
from payments.serializers.amounts import Address, Amount, Tier, Time


class OptionalText(serializers.CharField):
    """A text; null if it is empty."""

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        return value or None


class NextTierRecord(serializers.Serializer[Any]):
    """The next higher tier, and its requirements: either of the two that are not null."""

    tier = Tier(source="name")
    holdings_usd = Amount(decimal_places=6, allow_null=True, source="from_usd", help_text="Worth of the token held.")
    staked = Amount(decimal_places=0, allow_null=True, source="from_stake", help_text="Whole tokens staked.")


class TokenRecord(serializers.Serializer[Any]):
    """The utility token, whose holding or stake leads to a tier."""

    address = Address(help_text="Its contract, which also stakes it.")
    network = serializers.CharField(help_text="CAIP-2.")
    network_name = serializers.CharField(help_text="As version 1 of x402 calls it.")
    chain_id = serializers.IntegerField(min_value=1)
    stake_function = serializers.CharField(help_text="Of the contract; takes an amount in the smallest unit.")


class TierRecord(serializers.Serializer[Any]):
    """A tier: either of the two amounts that are not null leads to it."""

    tier = Tier()
    rate = serializers.ChoiceField(choices=Price.Rate.values, help_text="Of the price list.")
    requests_per_minute = serializers.IntegerField(min_value=1)
    from_usd = Amount(decimal_places=6, allow_null=True, help_text="Worth of the token held.")
    from_stake = serializers.IntegerField(min_value=1, allow_null=True, help_text="Whole tokens staked.")
    opens = serializers.ListField(
        child=serializers.SlugField(), help_text="Products that are sold from this tier on, beside those below."
    )


@extend_schema_serializer(many=False)
class LadderRecord(serializers.Serializer[Any]):
    """How the tiers are reached."""

    token = TokenRecord(allow_null=True, help_text="Null while there is none.")
    how = serializers.CharField(help_text="A sentence for people.")
    applies_after_s = serializers.IntegerField(min_value=0, help_text="How long a wallet must have held or staked.")
    tiers = TierRecord(many=True)


class AccountRecord(serializers.Serializer[Any]):
    """The account of the key, or the account to which the wallet is linked."""

    name = serializers.CharField()


class PlanRecord(serializers.Serializer[Any]):
    """The plan of the caller."""

    name = serializers.CharField()
    tier = Tier()
    price_factor = Amount(decimal_places=4, help_text="Already applied to the prices below.")
    valid_until = Time(allow_null=True, help_text="Null: until further notice.")


class UsageRecord(serializers.Serializer[Any]):
    """The rate limit."""

    requests = serializers.IntegerField(min_value=1, source="limit", help_text="Requests in a window.")
    window_s = serializers.IntegerField(min_value=1)
    used = serializers.IntegerField(min_value=0, source="count", help_text="Including this request.")
    resets_at = serializers.IntegerField(help_text="When the window ends, in Unix seconds.")


class ProductPriceRecord(serializers.Serializer[Any]):
    """A product at the caller's rate."""

    product = serializers.SlugField(source="slug")
    amount = Amount(decimal_places=6, allow_null=True, help_text="Null: not sold at this rate.")
    from_tier = Tier(help_text="The lowest tier that it is sold to.")


class PriceListRecord(serializers.Serializer[Any]):
    """The price of a call, by product."""

    rate = serializers.ChoiceField(source="caller.tier.rate", choices=Price.Rate.values)
    asset = ConstantField("USDC")
    products = ProductPriceRecord(many=True)


@extend_schema_serializer(many=False)
class MeRecord(serializers.Serializer[Any]):
    """The caller, the terms of their tier, and the next tier."""

    identified_by = serializers.ChoiceField(
        source="caller.identified_by", choices=list(IdentifiedBy), help_text="The credential that identified you."
    )
    account = AccountRecord(allow_null=True)
    wallet = Address(
        source="wallet.address",
        allow_null=True,
        help_text="Your proven wallet; of a key's wallets the one of the highest tier.",
    )
    wallets = serializers.ListField(
        source="wallet_addresses", child=Address(), help_text="All of yours, the best first."
    )
    tier = Tier(source="caller.tier.name")
    next_tier = NextTierRecord(allow_null=True, help_text="Null on the highest.")
    token = TokenRecord(allow_null=True, help_text="What to hold or stake; null where there is none.")
    pending_tier = Tier(
        source="caller.terms.pending_tier.tier.name",
        allow_null=True,
        help_text="The tier that your holdings qualify for; null: none.",
    )
    pending_tier_at = Time(
        source="caller.terms.pending_tier.at",
        allow_null=True,
        help_text="When it applies, if the holdings do not decrease.",
    )
    holdings_usd = Amount(source="wallet.holdings_usd", decimal_places=6, allow_null=True, help_text="Of `wallet`.")
    staked = Amount(source="wallet.staked", decimal_places=18, allow_null=True, help_text="In whole tokens.")
    read_at = Time(source="wallet.read_at", allow_null=True, help_text="When the holdings were read from the chain.")
    plan = PlanRecord(allow_null=True)
    limits = UsageRecord(source="usage")
    prices = PriceListRecord(source="*")
    support = serializers.CharField(source="tier_terms.support")
    priority = serializers.CharField(source="tier_terms.priority", help_text="The queue of your jobs.")
    sla = OptionalText(allow_null=True, help_text="The service-level agreement.")


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
