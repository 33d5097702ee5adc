"""Asks the facilitator to settle, once, and tells apart what is certain from what is not."""

import logging
import re
import time
from dataclasses import dataclass

import httpx
from django.conf import settings
from pydantic import ValidationError
from x402.schemas import PaymentPayload, PaymentRequirements, ResourceInfo, SettleResponse

from payments.connections import Connections

logger = logging.getLogger("tablewire.payments")

TOTAL_S = 8.0
TIMEOUT = httpx.Timeout(6.0, connect=2.0, write=2.0, pool=2.0)
MOST_BYTES = 64 * 1024
HASH = re.compile(r"0x[0-9a-fA-F]{64}")
# Besides all that begin with invalid_: reasons for which a facilitator sends nothing to the chain.
BEFORE_SENDING = frozenset(
    {
        "asset_not_deployed_contract",
        "eip6492_factory_not_allowed",
        "insufficient_funds",
        "missing_eip712_domain",
        "network_mismatch",
        "unsupported_scheme",
    }
)


@dataclass(frozen=True, slots=True)
class Settled:
    """The money has arrived in this transaction."""

    transaction: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """The facilitator has refused; by its word nothing has moved."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotSent:
    """The facilitator was not reached, or never looked at the payment: surely nothing has moved."""

    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It was asked and has not said how it ended."""

    why: str
    transaction: str | None = None


Outcome = Settled | Rejected | NotSent | Unknown


# A connection that the other side closes just now would leave a payment unknown: idle ones are not kept for long.
connections = Connections(limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=2.0))


def settle(
    *, payload: dict[str, object], requirement: PaymentRequirements, resource: ResourceInfo, payer: str
) -> Outcome:
    """Settle a signed payment (x402 version 2, POST /settle). One trip, about 8 seconds at most; never raises."""
    payment = PaymentPayload(payload=payload, accepted=requirement, resource=resource)
    question = {
        "x402Version": 2,
        "paymentPayload": payment.model_dump(mode="json", exclude_none=True),
        "paymentRequirements": requirement.model_dump(mode="json", exclude_none=True),
    }
    outcome = _ask(question, payer=payer)
    if not isinstance(outcome, Settled):
        logger.warning("not settled: %s", outcome)
    return outcome


def _ask(question: dict[str, object], *, payer: str) -> Outcome:
    until = time.monotonic() + TOTAL_S
    try:
        url = f"{settings.FACILITATOR_URL.rstrip('/')}/settle"
        with connections.open().stream("POST", url, json=question, timeout=TIMEOUT) as response:
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MOST_BYTES or time.monotonic() > until:
                    return Unknown("the answer does not end")
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
        return NotSent(type(error).__name__)
    except httpx.HTTPError as error:
        return Unknown(type(error).__name__)
    try:
        answer = SettleResponse.model_validate_json(bytes(content))
    except ValidationError:
        if 300 <= response.status_code < 500 and response.status_code != httpx.codes.REQUEST_TIMEOUT:
            # It is not there, not for us, or too busy: it has not come to look at the payment.
            return NotSent(f"HTTP {response.status_code}")
        return Unknown(f"HTTP {response.status_code}, and no settlement in it")
    return _judged(answer, payer=payer)


def _judged(answer: SettleResponse, *, payer: str) -> Outcome:
    transaction = answer.transaction.lower() if HASH.fullmatch(answer.transaction) else None
    if answer.success:
        if transaction is None or (answer.payer or payer).lower() != payer:
            return Unknown("settled, it says, but neither this payment nor a transaction")
        return Settled(transaction)
    reason = answer.error_reason or "no reason"
    if reason == "settlement_pending":
        return Unknown(reason, transaction)
    # With a transaction it was mined and reverted, unless somebody else came first: the chain knows.
    if transaction or reason.startswith("invalid_") or reason in BEFORE_SENDING:
        return Rejected(reason)
    return Unknown(reason)
