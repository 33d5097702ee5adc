"""How answers that may cost something, or that the caller may have already, are documented."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from catalogue import serializers
from framework.api.openapi import schema

SLUG = OpenApiParameter(
    "slug",
    {"type": "string", "pattern": serializers.SLUG, "maxLength": 120},
    OpenApiParameter.PATH,
    description="The restaurant's name in the address: small letters, digits and hyphens.",
)

CHALLENGE = (
    "Something that was asked for is to be paid. The same is said three times: in `x402`, in `PAYMENT-REQUIRED` for"
    " clients of x402 version 2, and in the body for those of version 1."
)
UNCHANGED = OpenApiResponse(description="You have this already; nothing was charged.")


def header(name: str, words: str, *, response: int | None = None, required: bool = False) -> OpenApiParameter:
    """A header of a request, or of one of its answers."""
    answers = None if response is None else [response]
    return OpenApiParameter(
        name, str, OpenApiParameter.HEADER, description=words, response=answers or False, required=required
    )


CONDITIONAL = [
    header("If-None-Match", "An ETag as you got it: what you have already is 304 and free."),
    header("ETag", "Names this content.", response=200, required=True),
    header("ETag", "Names this content.", response=304, required=True),
]
MOVED = header("Location", "The same address under the present slug.", response=308, required=True)
PAYMENT = [
    header("X-Payment", "The payment: of x402 version 1, or the hash of a transaction that has paid."),
    header("PAYMENT-SIGNATURE", "The payment of x402 version 2."),
    header("X-Receipt", "Of an answer that was paid: brings it again."),
    header("SIGN-IN-WITH-X", "A signed challenge of GET /v1/auth/challenge: for this request you are your wallet."),
    header("x402", "Asset, decimal amount, receiver and network, in JSON.", response=402, required=True),
    header("PAYMENT-REQUIRED", "The challenge of x402 version 2, in base64.", response=402, required=True),
    header("PAYMENT-RESPONSE", "Where it was paid: the settlement of x402 version 2, in base64.", response=200),
    header("X-PAYMENT-RESPONSE", "Where it was paid: the settlement of x402 version 1.", response=200),
    header("X-Receipt", "Where it was paid: send it along to be served again.", response=200),
    *CONDITIONAL,
    MOVED,
]


def ordering() -> list[OpenApiParameter]:
    """What an operation takes and says that sells what is made later."""
    asked = [each for each in PAYMENT if each.response is False and each.name != "If-None-Match"]
    told = [each for each in PAYMENT if each.response == [402]]
    receipts = [
        header(each.name, str(each.description), response=202)
        for each in PAYMENT
        if each.response == [200] and each.name != "ETag"
    ]
    return [*asked, *told, *receipts]


def sells(*names: str, one_a_call: bool = False) -> dict[str, Any]:
    """What `extensions` of extend_schema says of an operation that sells; it is served with their prices.

    Of several products a call may ask for all, or for one of them.
    """
    return {"x-products": list(names), **({"x-one-product-a-call": True} if one_a_call else {})}


def free(good: Any, *, errors: Sequence[int] = ()) -> dict[int, Any]:
    """The answers of an operation that is free; its parameters include CONDITIONAL."""
    return schema.documented_responses({200: good, 304: UNCHANGED}, errors=errors)


def sold(good: Any, *, of_restaurant: bool = True) -> dict[int, Any]:
    """The answers of an operation that may cost something: of one restaurant, it may have moved or be gone."""
    errors = [308, 403, 404, 409, 410] if of_restaurant else [403, 409]
    return {
        **schema.documented_responses({200: good, 304: UNCHANGED}, errors=errors),
        402: OpenApiResponse(serializers.PaymentRequiredRecord, description=CHALLENGE),
    }


def ordered(good: Any) -> dict[int, Any]:
    """The answers of an operation that sells what is made later."""
    return {
        **schema.documented_responses({202: good}, errors=[403, 409]),
        402: OpenApiResponse(serializers.PaymentRequiredRecord, description=CHALLENGE),
    }
