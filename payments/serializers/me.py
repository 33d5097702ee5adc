"""The shapes of what a caller has."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from config.api.fields import Constant
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
    asset = Constant("USDC")
    products = PricedRecord(many=True)


@extend_schema_serializer(many=False)
class MeRecord(serializers.Serializer[Any]):
    """Who calls, what their tier gives, and what leads to the next one."""

    wallet = serializers.RegexField("^0x[0-9a-fA-F]{40}$", allow_null=True, help_text="Null without a session.")
    tier = serializers.ChoiceField(choices=TIER_NAMES, source="tier.name")
    next_tier = NextTierRecord(allow_null=True, help_text="Null on the highest.")
    holdings_usd = Amount(decimal_places=6, allow_null=True)
    staked = Amount(decimal_places=18, allow_null=True, help_text="In whole tokens.")
    read_at = serializers.DateTimeField(
        format=MOMENT, allow_null=True, help_text="When the holdings were read from the chain."
    )
    limits = UsageRecord(source="usage")
    prices = PriceListRecord(source="*")
    support = serializers.CharField(source="promised.support")
    priority = serializers.CharField(source="promised.priority", help_text="The queue that takes your jobs.")
    sla = Words(source="promised.sla", allow_null=True, help_text="The service-level agreement.")
