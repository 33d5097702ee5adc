"""Words a 402: the seed's header, the header of x402 version 2, and the body of version 1."""

from collections.abc import Mapping
from functools import cache

import orjson
from django.conf import settings
from x402.extensions.payment_identifier import PAYMENT_IDENTIFIER, declare_payment_identifier_extension
from x402.http.utils import encode_payment_required_header
from x402.schemas import PaymentRequired as RequiredV2
from x402.schemas import PaymentRequirements, ResourceInfo
from x402.schemas.v1 import PaymentRequirementsV1

from framework.errors import Code, Refusal
from payments.chain import evm
from payments.chain.networks import Network, ours
from payments.pricing.price_list import HONOURED, Quote
from payments.tiers.definitions import FREE
from payments.x402.purchase import Purchase

EXPIRES_IN_S = int(HONOURED.total_seconds())
# Proxies refuse headers beyond 4 to 8 KB: of a longer address only the part before the query is told.
LONGEST_URL = 1000
JSON_TYPE = "application/json"
# The headers by which callers differ: what is told to one is not for another.
CALLER = ("Authorization", "SIGN-IN-WITH-X", "X-Payment", "PAYMENT-SIGNATURE")
checksummed = cache(evm.checksummed)


class PaymentRequired(Refusal):
    """This costs something. `reason` says why a payment that came does not pay; `refund` is a payment that we owe."""

    code = Code.PAYMENT_REQUIRED
    title = "Payment required"

    def __init__(
        self,
        message: str,
        *,
        quote: Quote,
        purchase: Purchase,
        reason: str | None = None,
        refund: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.required = required(quote, purchase, error=self.code)
        super().__init__(message, headers={**challenge(self.required, quote), **(headers or {})})
        self.reason = reason
        self.refund = refund
        self.own_body = {
            "x402Version": 1,
            "error": self.code.value,
            "accepts": [version_1(quote, purchase).model_dump(mode="json", exclude_none=True)],
            "title": self.title,
            "status": self.status,
            "detail": message,
            "tier_required": None if quote.from_tier == FREE else quote.from_tier.name,
            **({"reason": reason} if reason else {}),
            **({"refund": refund} if refund else {}),
        }


class PaymentRejected(PaymentRequired):
    """The payment does not pay for this."""

    code = Code.PAYMENT_REJECTED
    title = "Payment rejected"


class PaymentAlreadyUsed(PaymentRequired):
    """The payment has bought something else."""

    code = Code.PAYMENT_ALREADY_USED
    title = "Payment already used"


class TransactionNotFound(PaymentRequired):
    """The chain does not know the transaction, or not yet."""

    code = Code.TRANSACTION_NOT_FOUND
    title = "Transaction not found"


def required(quote: Quote, purchase: Purchase, *, error: str) -> RequiredV2:
    """The challenge of version 2."""
    network = ours()
    return RequiredV2(
        error=error,
        resource=resource(purchase, description=quote.description),
        accepts=[requirement(network, network.atomic(quote.amount))],
        # More of them would not fit: proxies refuse long headers.
        extensions={PAYMENT_IDENTIFIER: declare_payment_identifier_extension()},
    )


def challenge(required: RequiredV2, quote: Quote) -> dict[str, str]:
    """The headers of a 402."""
    network = ours()
    seeds = {
        "asset": network.asset_name,
        "amount": f"{quote.amount.normalize():f}",
        "pay_to": checksummed(settings.PAY_TO),
        "network": network.name,
        "caip2": network.caip2,
        "asset_address": checksummed(network.asset),
        "decimals": network.decimals,
        "expires_in": EXPIRES_IN_S,
    }
    return {
        "x402": orjson.dumps(seeds).decode(),
        "PAYMENT-REQUIRED": encode_payment_required_header(required),
        "Cache-Control": "no-store",
        "Vary": ", ".join(CALLER),
    }


def requirement(network: Network, value: int) -> PaymentRequirements:
    """What we take, as version 2 words it: `value` of the network's USDC in its smallest unit, to our address."""
    return PaymentRequirements(
        scheme="exact",
        network=network.caip2,
        asset=checksummed(network.asset),
        amount=str(value),
        pay_to=checksummed(settings.PAY_TO),
        max_timeout_seconds=EXPIRES_IN_S,
        # Of the EIP-712 domain: wallets sign it.
        extra={"name": network.domain_name, "version": network.domain_version},
    )


def version_1(quote: Quote, purchase: Purchase) -> PaymentRequirementsV1:
    """The same as version 1 words it."""
    network = ours()
    current = requirement(network, network.atomic(quote.amount))
    return PaymentRequirementsV1(
        scheme=current.scheme,
        network=network.name,
        max_amount_required=current.amount,
        resource=url(purchase),
        description=quote.description,
        mime_type=JSON_TYPE,
        pay_to=current.pay_to,
        max_timeout_seconds=current.max_timeout_seconds,
        asset=current.asset,
        output_schema={"input": {"type": "http", "method": purchase.method, "discoverable": True}, "output": None},
        extra=current.extra,
    )


def resource(purchase: Purchase, *, description: str | None = None) -> ResourceInfo:
    """What is sold."""
    return ResourceInfo(url=url(purchase), description=description, mime_type=JSON_TYPE)


def url(purchase: Purchase) -> str:
    """The address of what is sold, short enough for a header."""
    if purchase.told is not None:
        return purchase.told
    return purchase.url if len(purchase.url) <= LONGEST_URL else purchase.url.partition("?")[0][:LONGEST_URL]
