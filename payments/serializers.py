"""The shapes of signing in and of what a caller has."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from config.api.fields import Constant, Shape, Text
from payments.models import Price
from payments.siwx import ADDRESS, LONGEST_MESSAGE, SIGNATURE
from payments.tiers import TIERS

TIER_NAMES = list(TIERS)
MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class Amount(serializers.DecimalField):
    """A decimal number as text, without needless zeros."""

    def __init__(self, *, decimal_places: int, **options: Any) -> None:
        super().__init__(max_digits=60, decimal_places=decimal_places, normalize_output=True, **options)


# Signing in --------------------------------------------------------------------------------------------------------
class ChallengeFor(Shape):
    """The parameters of GET /v1/auth/challenge."""

    address = Text(
        required=False,
        min_length=42,
        max_length=42,
        pattern=ADDRESS,
        hint="This must be an address: 0x and 40 hexadecimal digits.",
        help_text="The wallet that will sign; then `message` is the whole text to sign.",
    )


class ChallengeRecord(serializers.Serializer[Any]):
    """The fields of the message to sign, as EIP-4361 names them."""

    domain = serializers.CharField()
    uri = serializers.URLField()
    version = serializers.CharField()
    chainId = serializers.IntegerField(source="chain_id", min_value=1)  # noqa: N815  # the standard's name
    nonce = serializers.RegexField("^[0-9a-f]{64}$", help_text="Good once.")
    issuedAt = serializers.DateTimeField(source="issued_at", format=MOMENT)  # noqa: N815
    expirationTime = serializers.DateTimeField(source="expiration_time", format=MOMENT)  # noqa: N815
    statement = serializers.CharField()
    message = serializers.SerializerMethodField(help_text="The text to sign (personal_sign); null without `address`.")

    def get_message(self, challenge: Any) -> str | None:
        """The text with the address in it."""
        address = self.context.get("address")
        return challenge.message(address) if address else None


class NewSession(Shape):
    """The message that was signed, and the signature."""

    message = Text(max_length=LONGEST_MESSAGE, lines=True, help_text="The message of EIP-4361, letter by letter.")
    signature = Text(
        min_length=132,
        max_length=132,
        pattern=SIGNATURE,
        hint="This must be 0x and 130 hexadecimal digits.",
        help_text="By personal_sign (EIP-191) of an account that has a key.",
    )


class SessionRecord(serializers.Serializer[Any]):
    """A session that was just opened."""

    token = serializers.RegexField("^ws_[A-Za-z0-9_-]{43}$", help_text="Told this once. `Authorization: Bearer ...`.")
    token_type = Constant("Bearer")
    expires_in = serializers.IntegerField(min_value=1, help_text="Seconds.")
    wallet = serializers.RegexField("^0x[0-9a-fA-F]{40}$", help_text="With the capitals of EIP-55.")
    tier = serializers.ChoiceField(choices=TIER_NAMES)
    holdings_usd = Amount(decimal_places=6)


# What a caller has -------------------------------------------------------------------------------------------------
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
    support = serializers.CharField(source="tier.support")
    priority = serializers.CharField(source="tier.queue", help_text="The queue that takes your jobs.")
    sla = serializers.CharField(source="tier.sla", allow_null=True, help_text="The service-level agreement.")
