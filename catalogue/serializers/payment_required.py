"""What a 402 says."""

from typing import Any

from rest_framework import serializers

from framework.errors import ErrorCode
from payments.interface import TIERS

CODES = [code.value for code in ErrorCode if code.status == 402]


class RequirementRecord(serializers.Serializer[Any]):
    """A way to pay, as x402 version 1 words it."""

    scheme = serializers.CharField()
    network = serializers.CharField()
    maxAmountRequired = serializers.RegexField("^[0-9]+$", help_text="In the asset's smallest unit.")  # noqa: N815  # a name of x402
    resource = serializers.CharField()
    description = serializers.CharField()
    mimeType = serializers.CharField()  # noqa: N815  # a name of x402
    outputSchema = serializers.DictField(allow_null=True, required=False)  # noqa: N815  # a name of x402
    payTo = serializers.RegexField("^0x[0-9a-fA-F]{40}$")  # noqa: N815  # a name of x402
    maxTimeoutSeconds = serializers.IntegerField(min_value=1)  # noqa: N815  # a name of x402
    asset = serializers.RegexField("^0x[0-9a-fA-F]{40}$")
    extra = serializers.DictField(required=False)


class PaymentRequiredRecord(serializers.Serializer[Any]):
    """The challenge of x402 version 1, and why there is one."""

    x402Version = serializers.IntegerField(min_value=1, max_value=1)  # noqa: N815  # a name of x402
    error = serializers.ChoiceField(choices=CODES)
    accepts = RequirementRecord(many=True)
    title = serializers.CharField()
    status = serializers.IntegerField(min_value=402, max_value=402)
    detail = serializers.CharField(help_text="What to do, for people.")
    tier_required = serializers.ChoiceField(
        choices=list(TIERS), allow_null=True, help_text="The lowest tier that it is sold to; null for every tier."
    )
    reason = serializers.CharField(required=False, help_text="Why the payment that came does not pay.")
    refund = serializers.CharField(required=False, help_text="A payment that came and that we owe you.")
    request_id = serializers.CharField(help_text="Also in the header X-Request-Id; quote it to us.")
