"""Writes a 402: the `x402` header, the header of x402 version 2, and the body of version 1."""

import secrets
from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone
from x402.extensions.payment_identifier import PAYMENT_IDENTIFIER, declare_payment_identifier_extension
from x402.extensions.sign_in_with_x import SIGN_IN_WITH_X
from x402.http.utils import encode_payment_required_header, encode_payment_response_header
from x402.schemas import PaymentRequired as RequiredV2
from x402.schemas import PaymentRequirements, ResourceInfo, SettleResponse
from x402.schemas.v1 import PaymentRequirementsV1

from framework.api.urls import public_url
from framework.errors import ApiError, ErrorCode
from payments.chain.evm import to_checksum_address
from payments.chain.networks import payment_network
from payments.identity import siwx
from payments.models import Payment
from payments.pricing.price_list import PRICE_GRACE, Quote
from payments.tiers.definitions import FREE, Tier, describe_requirements, describe_token
from payments.x402 import offer_receipt
from payments.x402.proofs import QUOTE_TOKEN
from payments.x402.purchase import Purchase, shorten_url

EXPIRES_IN_S = int(PRICE_GRACE.total_seconds())
JSON_TYPE = "application/json"
TIERS_PATH = "/v1/tiers"
# The headers that identify a caller: caches must not serve the answer to one caller to another.
CALLER_HEADERS = ("Authorization", "SIGN-IN-WITH-X", "X-Payment", "PAYMENT-SIGNATURE")


class PaymentRequired(ApiError):
    """This must be paid for. `reason` says why a payment does not pay; `refund` names one to be refunded.

    `plain_amount` is the amount of a plain transfer, in atomic units; the price without one.
    """

    code = ErrorCode.PAYMENT_REQUIRED
    title = "Payment required"

    def __init__(
        self,
        message: str,
        *,
        quote: Quote,
        purchase: Purchase,
        plain_amount: int | None = None,
        reason: str | None = None,
        refund: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        accepts = [build_requirement(payment_network().to_atomic(quote.amount), quote_token=secrets.token_urlsafe(16))]
        offers = offer_receipt.declare_offers(shorten_url(purchase.url), accepts, now=timezone.now().timestamp())
        # The challenge of version 2.
        self.required = RequiredV2(
            error=self.code,
            resource=build_resource(purchase, description=quote.description),
            accepts=accepts,
            extensions=declare_extensions(purchase) | offers,
        )
        refused = {} if type(self) is PaymentRequired else refusal_headers(reason or self.code, refund=refund)
        challenge = challenge_headers(self.required, quote, plain_amount)
        super().__init__(message, headers={**challenge, **refused, **(headers or {})})
        self.reason = reason
        self.body_override = {
            "x402Version": 1,
            "error": self.code.value,
            "accepts": [build_requirement_v1(quote, purchase).model_dump(mode="json", exclude_none=True)],
            "title": self.title,
            "status": self.status,
            "detail": message,
            **({"extensions": offers} if offers else {}),
            "tier_required": None if quote.from_tier == FREE else quote.from_tier.name,
            **({} if quote.from_tier == FREE else describe_required(quote.from_tier)),
            **({"reason": reason} if reason else {}),
            **({"refund": refund} if refund else {}),
        }


def describe_required(tier: Tier) -> dict[str, Any]:
    """The members of an error about a tier: the token, the amounts of it that lead there, and where all tiers are."""
    return {"token": describe_token(), **describe_requirements(tier), "tiers": public_url(TIERS_PATH)}


class PaymentRejected(PaymentRequired):
    """The payment does not pay for this."""

    code = ErrorCode.PAYMENT_REJECTED
    title = "Payment rejected"


class PaymentAlreadyUsed(PaymentRequired):
    """The payment has bought something else."""

    code = ErrorCode.PAYMENT_ALREADY_USED
    title = "Payment already used"


class TransactionNotFound(PaymentRequired):
    """The chain does not know the transaction, or not yet."""

    code = ErrorCode.TRANSACTION_NOT_FOUND
    title = "Transaction not found"


def describe_challenge(purchase: Purchase, *, description: str, value: int) -> dict[str, Any]:
    """Return the challenge of version 2 for `value` atomic units, as JSON for a protocol that has no 402."""
    required = RequiredV2(
        resource=build_resource(purchase, description=description), accepts=[build_requirement(value)]
    )
    return required.model_dump(mode="json", by_alias=True, exclude_none=True)


def declare_extensions(purchase: Purchase) -> dict[str, Any]:
    """Return the extensions of version 2. Further ones would not fit: proxies refuse long headers."""
    extensions = {PAYMENT_IDENTIFIER: declare_payment_identifier_extension()}
    # Clients sign in by a header, which MCP messages do not have.
    if purchase.channel == Payment.Channel.REST:
        extensions[SIGN_IN_WITH_X] = siwx.declare_extension(now=timezone.now())
    return extensions


def challenge_headers(required: RequiredV2, quote: Quote, plain_amount: int | None) -> dict[str, str]:
    network = payment_network()
    amount = quote.amount if plain_amount is None else network.to_decimal(plain_amount)
    bare = {
        "asset": network.asset_name,
        "amount": f"{amount.normalize():f}",
        "pay_to": to_checksum_address(settings.PAY_TO),
        "network": network.name,
        "caip2": network.caip2,
        "asset_address": to_checksum_address(network.asset),
        "decimals": network.decimals,
        "expires_in": EXPIRES_IN_S,
    }
    return {
        "x402": orjson.dumps(bare).decode(),
        "PAYMENT-REQUIRED": encode_payment_required_header(shorten_schemas(required)),
        "Cache-Control": "no-store",
        "Vary": ", ".join(CALLER_HEADERS),
    }


def shorten_schemas(required: RequiredV2) -> RequiredV2:
    """Return the challenge for a header: the schemas of its two long extensions, which no client needs, are left out.

    An MCP message has the whole one, and the body of a 402 the one of the offers.
    """
    extensions = offer_receipt.without_schemas(required.extensions) or {}
    if SIGN_IN_WITH_X in extensions:
        extensions[SIGN_IN_WITH_X] = {**extensions[SIGN_IN_WITH_X], "schema": {"type": "object"}}
    return required.model_copy(update={"extensions": extensions})


def refusal_headers(reason: str, *, refund: str | None) -> dict[str, str]:
    """Return the settlement of a payment that was refused, as clients of version 2 read it; the body has it too."""
    settlement = SettleResponse(
        success=False,
        error_reason=reason,
        transaction="",
        network=payment_network().caip2,
        extra={"refund": refund} if refund else None,
    )
    return {"PAYMENT-RESPONSE": encode_payment_response_header(settlement)}


def build_requirement(value: int, *, pay_to: str | None = None, quote_token: str | None = None) -> PaymentRequirements:
    """Return what we accept, as version 2 writes it: `value` of the network's USDC in atomic units, to our address.

    `pay_to` is the receiver of a payment that was made before PAY_TO changed, `quote_token` the secret of a 402.
    """
    network = payment_network()
    return PaymentRequirements(
        scheme="exact",
        network=network.caip2,
        asset=to_checksum_address(network.asset),
        amount=str(value),
        pay_to=to_checksum_address(pay_to or settings.PAY_TO),
        max_timeout_seconds=EXPIRES_IN_S,
        # The EIP-712 domain, which wallets sign.
        extra={
            "name": network.domain_name,
            "version": network.domain_version,
            **({QUOTE_TOKEN: quote_token} if quote_token else {}),
        },
    )


def build_requirement_v1(quote: Quote, purchase: Purchase) -> PaymentRequirementsV1:
    """Return what we accept, as version 1 writes it."""
    network = payment_network()
    current = build_requirement(network.to_atomic(quote.amount))
    return PaymentRequirementsV1(
        **current.model_dump(exclude={"network", "amount"}),
        network=network.name,
        max_amount_required=current.amount,
        resource=shorten_url(purchase.url),
        description=quote.description,
        mime_type=JSON_TYPE,
        output_schema={"input": {"type": "http", "method": purchase.method, "discoverable": True}, "output": None},
    )


def build_resource(purchase: Purchase, *, description: str | None = None) -> ResourceInfo:
    return ResourceInfo(url=shorten_url(purchase.url), description=description, mime_type=JSON_TYPE)
