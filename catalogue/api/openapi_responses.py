"""OpenAPI descriptions of paid and of conditional responses."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from catalogue import serializers
from framework.api.openapi import schema

SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": serializers.SLUG, "maxLength": 120},
    OpenApiParameter.PATH,
    description="The slug of the restaurant: lower-case letters, digits and hyphens.",
)

CHALLENGE = (
    "A requested product must be paid for. The requirements are sent three times: in `x402`, in `PAYMENT-REQUIRED` for"
    " clients of x402 version 2, and in the body for those of version 1."
)
UNCHANGED = OpenApiResponse(description="You have this content already; nothing was charged.")


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
    header("PAYMENT-REQUIRED", "The challenge of x402 version 2, in base64.", response=402, required=True),
    header("PAYMENT-RESPONSE", "If it was paid: the settlement of x402 version 2, in base64.", response=200),
    header("X-PAYMENT-RESPONSE", "If it was paid: the settlement of x402 version 1.", response=200),
    header("X-Receipt", "If it was paid: the receipt, with which you can get the response again.", response=200),
    *CONDITIONAL,
    MOVED,
]


def order_parameters() -> list[OpenApiParameter]:
    """Return the headers of an operation that sells a product which is delivered later."""
    requests = [each for each in PAYMENT if each.response is False and each.name != "If-None-Match"]
    challenges = [each for each in PAYMENT if each.response == [402]]
    receipts = [
        header(each.name, str(each.description), response=202)
        for each in PAYMENT
        if each.response == [200] and each.name != "ETag"
    ]
    return [*requests, *challenges, *receipts]


def product_extensions(*names: str, one_a_call: bool = False) -> dict[str, Any]:
    """Return the `extensions` of extend_schema for products; prices are added when the document is served.

    A call can buy all of these products, or only one with `one_a_call`.
    """
    return {"x-products": list(names), **({"x-one-product-a-call": True} if one_a_call else {})}


def free_responses(good: Any, *, errors: Sequence[int] = ()) -> dict[int, Any]:
    """Return the responses of a free operation, whose parameters include CONDITIONAL."""
    return schema.documented_responses({200: good, 304: UNCHANGED}, errors=errors)


def paid_responses(good: Any, *, of_restaurant: bool = True) -> dict[int, Any]:
    """Return the responses of a paid operation; `of_restaurant` adds those of renamed and erased restaurants."""
    errors = [308, 403, 404, 409, 410] if of_restaurant else [403, 409]
    return {
        **schema.documented_responses({200: good, 304: UNCHANGED}, errors=errors),
        402: OpenApiResponse(serializers.PaymentRequiredRecord, description=CHALLENGE),
    }


def order_responses(good: Any) -> dict[int, Any]:
    """Return the responses of an operation that sells a product which is delivered later."""
    return {
        **schema.documented_responses({202: good}, errors=[403, 409]),
        402: OpenApiResponse(serializers.PaymentRequiredRecord, description=CHALLENGE),
    }
