"""The shapes of signing in."""

from typing import Any

from rest_framework import serializers

from framework.api.fields import ConstantField, StrictSerializer, TextField
from payments.chain.evm import ADDRESS
from payments.identity.siwx import LONGEST_MESSAGE, LONGEST_SIGNATURE, SIGNATURE
from payments.serializers.amounts import MOMENT, TIER_NAMES, Amount


class ChallengeFor(StrictSerializer):
    """The parameters of GET /v1/auth/challenge."""

    address = TextField(
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


class Proof(StrictSerializer):
    """The message that was signed, and the signature."""

    message = TextField(max_length=LONGEST_MESSAGE, lines=True, help_text="The message of EIP-4361, letter by letter.")
    signature = TextField(
        min_length=4,
        max_length=2 + LONGEST_SIGNATURE,
        pattern=SIGNATURE,
        hint=f"This must be 0x and an even number of hexadecimal digits, {LONGEST_SIGNATURE} at most.",
        help_text="By personal_sign (EIP-191). A contract wallet that is on the chain judges its own (ERC-1271).",
    )


class SessionRecord(serializers.Serializer[Any]):
    """A session that was just opened."""

    token = serializers.RegexField("^ws_[A-Za-z0-9_-]{43}$", help_text="Told this once. `Authorization: Bearer ...`.")
    token_type = ConstantField("Bearer")
    expires_in = serializers.IntegerField(min_value=1, help_text="Seconds.")
    wallet = serializers.RegexField("^0x[0-9a-fA-F]{40}$", help_text="With the capitals of EIP-55.")
    tier = serializers.ChoiceField(choices=TIER_NAMES)
    holdings_usd = Amount(decimal_places=6)
