"""The serializers of wallet sign-in."""

from typing import Any

from rest_framework import serializers

from framework.api.fields import ConstantField, StrictSerializer, TextField
from payments.chain.evm import ADDRESS, to_checksum_address
from payments.identity import siwx
from payments.identity.siwx import MAX_MESSAGE_LENGTH, MAX_SIGNATURE_LENGTH, SIGNATURE
from payments.serializers.amounts import Amount, Tier, Time


class ChallengeParameters(StrictSerializer):
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
    chainId = serializers.IntegerField(min_value=1)  # noqa: N815  # the standard's name
    nonce = serializers.RegexField("^[0-9a-f]{64}$", help_text="Good once.")
    issuedAt = Time()  # noqa: N815
    expirationTime = Time()  # noqa: N815
    statement = serializers.CharField()
    message = serializers.SerializerMethodField(help_text="The text to sign (personal_sign); null without `address`.")

    def get_message(self, challenge: Any) -> str | None:
        address = self.context.get("address")
        return siwx.format_message({**challenge, "address": to_checksum_address(address)}) if address else None


class SignedMessage(StrictSerializer):
    """A signed message."""

    message = TextField(max_length=MAX_MESSAGE_LENGTH, lines=True, help_text="The message of EIP-4361, unchanged.")
    signature = TextField(
        min_length=4,
        max_length=2 + MAX_SIGNATURE_LENGTH,
        pattern=SIGNATURE,
        hint=f"This must be 0x and an even number of hexadecimal digits, {MAX_SIGNATURE_LENGTH} at most.",
        help_text="By personal_sign (EIP-191). A contract wallet that is deployed verifies its own (ERC-1271).",
    )


class SessionRecord(serializers.Serializer[Any]):
    """A new session."""

    token = serializers.RegexField(
        "^ws_[A-Za-z0-9_-]{43}$", help_text="Returned only now. `Authorization: Bearer ...`."
    )
    token_type = ConstantField("Bearer")
    expires_in = serializers.IntegerField(min_value=1, help_text="Seconds.")
    wallet = serializers.RegexField(ADDRESS, help_text="With the capitals of EIP-55.")
    tier = Tier()
    holdings_usd = Amount(decimal_places=6)
