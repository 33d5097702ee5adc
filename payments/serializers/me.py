"""The shapes of what a caller has."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from framework.api.fields import ConstantField
from payments.chain.evm import ADDRESS
from payments.identity.caller import By
from payments.models import Price
from payments.serializers.amounts import MOMENT, TIER_NAMES, Amount


class Words(serializers.CharField):
    """A text, null where there is none."""

    def to_representation(self, value: str) -> str | None:  # type: ignore[override]
        """The text."""
        return value or None


class NextTierRecord(serializers.Serializer[Any]):
    """The tier above, and what leads to it: either of the two that are not null."""

    tier = serializers.ChoiceField(choices=TIER_NAMES, source="name")
    holdings_usd = Amount(decimal_places=6, allow_null=True, source="from_usd", help_text="Worth of the token held.")
    staked = Amount(decimal_places=0, allow_null=True, source="from_stake", help_text="Whole tokens staked.")


class RiseRecord(serializers.Serializer[Any]):
    """The tier that a holding leads to once it has lasted, and when that is if it stays."""

    tier = serializers.ChoiceField(choices=TIER_NAMES, source="tier.name")
    at = serializers.DateTimeField(format=MOMENT)


class AccountRecord(serializers.Serializer[Any]):
    """The account of a key, or that to which a wallet is linked."""

    name = serializers.CharField()


class PlanRecord(serializers.Serializer[Any]):
    """What was agreed on with the caller."""

    name = serializers.CharField()
    tier = serializers.ChoiceField(choices=TIER_NAMES)
    price_factor = Amount(decimal_places=4, help_text="In the prices below already.")
    valid_until = serializers.DateTimeField(format=MOMENT, allow_null=True, help_text="Null: until further notice.")


class UsageRecord(serializers.Serializer[Any]):
    """The limit of requests."""

    requests = serializers.IntegerField(min_value=1, source="limit", help_text="Requests in a window.")
    window_s = serializers.IntegerField(min_value=1)
    used = serializers.IntegerField(min_value=0, source="count", help_text="This request among them.")
    resets_at = serializers.IntegerField(help_text="When the window ends, in Unix seconds.")


class PricedRecord(serializers.Serializer[Any]):
    """A product at the caller's rate."""

    product = serializers.SlugField()
    amount = Amount(decimal_places=6, allow_null=True, help_text="Null: not sold at this rate.")
    from_tier = serializers.ChoiceField(choices=TIER_NAMES, help_text="The lowest tier that it is sold to.")


class PriceListRecord(serializers.Serializer[Any]):
    """What a call costs, by product."""

    rate = serializers.ChoiceField(choices=Price.Rate.values)
    asset = ConstantField("USDC")
    products = PricedRecord(many=True)


@extend_schema_serializer(many=False)
class MeRecord(serializers.Serializer[Any]):
    """Who calls, what their tier gives, and what leads to the next one."""

    by = serializers.ChoiceField(choices=[by.value for by in By], help_text="What you were recognised by.")
    account = AccountRecord(allow_null=True)
    wallet = serializers.RegexField(
        ADDRESS, allow_null=True, help_text="That you have proven; of a key's wallets the one of the highest tier."
    )
    wallets = serializers.ListField(child=serializers.RegexField(ADDRESS), help_text="All of yours, the best first.")
    tier = serializers.ChoiceField(choices=TIER_NAMES, source="tier.name")
    next_tier = NextTierRecord(allow_null=True, help_text="Null on the highest.")
    rising = RiseRecord(allow_null=True, help_text="Null: none is on its way.")
    holdings_usd = Amount(decimal_places=6, allow_null=True, help_text="Of `wallet`.")
    staked = Amount(decimal_places=18, allow_null=True, help_text="In whole tokens.")
    read_at = serializers.DateTimeField(
        format=MOMENT, allow_null=True, help_text="When the holdings were read from the chain."
    )
    plan = PlanRecord(allow_null=True)
    limits = UsageRecord(source="usage")
    prices = PriceListRecord(source="*")
    support = serializers.CharField(source="promised.support")
    priority = serializers.CharField(source="promised.priority", help_text="The queue that takes your jobs.")
    sla = Words(allow_null=True, help_text="The service-level agreement.")
