"""OpenAPI descriptions of paid and of conditional responses."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from catalogue.serializers.shared import SLUG as SLUG_PATTERN
from framework.api.openapi import schema
from framework.errors import ErrorCode
from payments.interface import TIERS

SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": SLUG_PATTERN, "maxLength": 120},
    OpenApiParameter.PATH,
    description="The slug of the restaurant: lower-case letters, digits and hyphens.",
)

CHALLENGE = (
    "A requested product must be paid for. The requirements are sent three times: in `x402`, in `PAYMENT-REQUIRED` for"
    " clients of x402 version 2, and in the body for those of version 1."
)
DEPOSIT = (
    "The time asks for a deposit, which must be paid with the same request: exactly this amount, whatever the tier."
    " The requirements are sent three times, as for a product."
)
UNCHANGED = OpenApiResponse(description="You have this content already; nothing was charged.")


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
    token = serializers.DictField(
        allow_null=True, required=False, help_text="With `tier_required`: the token of the tiers, as GET /v1/tiers."
    )
    from_usd = serializers.CharField(
        allow_null=True, required=False, help_text="With `tier_required`: the worth of the token to hold, in USD."
    )
    from_stake = serializers.IntegerField(
        allow_null=True, required=False, help_text="With `tier_required`: the whole tokens to stake."
    )
    tiers = serializers.CharField(required=False, help_text="With `tier_required`: the address of all tiers.")
    reason = serializers.CharField(required=False, help_text="Why the payment that came does not pay.")
    refund = serializers.CharField(required=False, help_text="A payment that came and that we owe you.")
    request_id = serializers.CharField(help_text="Also in the header X-Request-Id; quote it to us.")


def header(name: str, words: str, *, response: int | None = None, required: bool = False) -> OpenApiParameter:
    """Return a header of a request or of a response."""
    answers = None if response is None else [response]
    return OpenApiParameter(
        name, str, OpenApiParameter.HEADER, description=words, response=answers or False, required=required
    )


CONDITIONAL = [
    header("If-None-Match", "An ETag of an earlier response: unchanged content is 304 and free."),
    header("ETag", "Identifies this content.", response=200, required=True),
    header("ETag", "Identifies this content.", response=304, required=True),
]
MOVED = header("Location", "The same URL with the current slug.", response=308, required=True)
PAYMENT = [
    header("X-Payment", "The payment of x402 version 1, or the hash of a transaction that has paid."),
    header("PAYMENT-SIGNATURE", "The payment of x402 version 2."),
    header("X-Receipt", "The receipt of a paid response: returns it again."),
    header(
        "SIGN-IN-WITH-X",
        "A signed challenge of GET /v1/auth/challenge, which identifies your wallet for this request.",
    ),
    header("x402", "Asset, decimal amount, receiver and network, in JSON.", response=402, required=True),
    header(
        "PAYMENT-REQUIRED",
        "The challenge of x402 version 2 with a signed offer, in base64.",
        response=402,
        required=True,
    ),
    header(
        "PAYMENT-RESPONSE",
        "If it was paid: the settlement of x402 version 2 with the signed receipt, in base64.",
        response=200,
    ),
    header("X-PAYMENT-RESPONSE", "If it was paid: the settlement of x402 version 1.", response=200),
    header("X-Receipt", "If it was paid: the receipt, with which you can get the response again.", response=200),
    header(
        "Receipt-Statement",
        "If it was paid: our signed statement about this body, a JWS (docs/receipts).",
        response=200,
    ),
    *CONDITIONAL,
    MOVED,
]


def order_parameters(code: int = 202) -> list[OpenApiParameter]:
    """Return the headers of an operation that is paid for, and answers with `code`."""
    requests = [each for each in PAYMENT if each.response is False and each.name != "If-None-Match"]
    challenges = [each for each in PAYMENT if each.response == [402]]
    receipts = [
        header(each.name, str(each.description), response=code)
        for each in PAYMENT
        if each.response == [200] and each.name != "ETag"
    ]
    return [*requests, *challenges, *receipts]


def product_extensions(*names: str, one_a_call: bool = False) -> dict[str, Any]:
    """Return the `extensions` of extend_schema for products; prices are added when the document is served.

    A call can buy all of these products, or only one with `one_a_call`.
    """
    return {"x-products": list(names), **({"x-one-product-a-call": True} if one_a_call else {})}


def free_operation(
    operation_id: str, summary: str, *parameters: Any, answer: Any, errors: Sequence[int] = ()
) -> Callable[[Any], Any]:
    """Return the extend_schema of a free operation with an ETag."""
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[*parameters, *CONDITIONAL, *([MOVED] if 308 in errors else [])],
        responses=schema.documented_responses({200: answer, 304: UNCHANGED}, errors=errors),
    )


def paid_operation(
    operation_id: str,
    summary: str,
    *parameters: Any,
    answer: Any,
    products: Sequence[str],
    errors: Sequence[int] = (403, 409),
) -> Callable[[Any], Any]:
    """Return the extend_schema of an operation that sells these products; with SLUG it is about one restaurant."""
    if SLUG in parameters:
        errors = [308, 403, 404, 409, 410]
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[*parameters, *PAYMENT],
        responses={
            **schema.documented_responses({200: answer, 304: UNCHANGED}, errors=errors),
            402: OpenApiResponse(PaymentRequiredRecord, description=CHALLENGE),
        },
        extensions=product_extensions(*products),
    )


def order_responses(good: Any) -> dict[int, Any]:
    """Return the responses of an operation that sells a product which is delivered later."""
    return {
        **schema.documented_responses({202: good}, errors=[403, 409]),
        402: OpenApiResponse(PaymentRequiredRecord, description=CHALLENGE),
    }
