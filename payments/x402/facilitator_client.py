"""The client of x402 facilitators: settles a payment once, and separates certain outcomes from unknown ones."""

import asyncio
import logging
import re
import ssl
import time
from dataclasses import dataclass, field, replace
from functools import cache
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from pydantic import ValidationError
from x402.schemas import PaymentPayload, PaymentRequirements, ResourceInfo, SettleResponse

from framework.http_client import NO_PROXY_TO_LOOPBACK
from framework.resilience.bulkhead import Bulkhead
from framework.resilience.circuit_breaker import CircuitBreaker, State
from framework.resilience.deadline import Deadline, limit_timeout
from payments.facilitator_server import error_codes
from payments.observability import counters

logger = logging.getLogger("tablewire.payments")

# For all requests of one payment, and for the parts of a request: httpx limits each wait only, which a slow sender
# could repeat for ever. Our own facilitator answers within 7 seconds.
TOTAL_S = 8.0
TIMEOUT = httpx.Timeout(7.5, connect=2.0, write=2.0, pool=2.0)
# With less time left than this the first, or the second, facilitator is not asked: the first could not begin, the
# second could not end what it began.
MIN_TIME_LEFT_S = (0.2, 3.0)
# Reserved for the question to the chain that may follow, and for recording the outcome.
RESERVED_S = 0.5
MAX_BYTES = 64 * 1024
# Statuses of a server that has not processed the payment: absent, not for us, or too busy. Not 400, with which many
# facilitators answer whatever fails while they settle, and no other status that may be about a payment under way.
NOT_PROCESSED_STATUSES = frozenset({401, 403, 404, 405, 413, 429})
# Of a facilitator's reason, which goes into the log and into our answers.
MAX_REASON_LENGTH = 100
HASH = re.compile(r"0x[0-9a-fA-F]{64}")


def public_url(url: str) -> str:
    """Return the facilitator's address as the ledger shows it: scheme, host and port.

    User name, password, path and query may hold the credentials of a hosted facilitator.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a settlement request, with the facilitator's reason and transaction if it has given them.

    `facilitator` is the address of the last facilitator that was asked.
    """

    reason: str = ""
    transaction: str | None = None
    facilitator: str = field(default="", compare=False, kw_only=True)


class Settled(Outcome):
    """The money has arrived in this transaction."""


class Rejected(Outcome):
    """The facilitator refused before it sent anything; another sender may have sent the payment."""


class NotSent(Outcome):
    """The facilitator was not reached, or did not process the payment: certainly nothing has moved."""


class Unknown(Outcome):
    """The facilitator received the request and has not reported how the settlement ended."""


class Failed(Outcome):
    """The facilitator reports no settlement: the transaction failed, or without one another sender may have sent it.

    Only the chain shows which.
    """


# How long a settlement waits for a free thread: a healthy facilitator has mostly answered by then.
SLOT_WAIT_S = 1.0
# All threads but one may settle at a time.
bulkhead = Bulkhead(max_wait_s=SLOT_WAIT_S)
# A facilitator's breaker opens after so many failures in a row; after RECOVERY_S one settlement probes it.
FAILURE_THRESHOLD = 2
RECOVERY_S = 5.0
# By the facilitator's address.
breakers: dict[str, CircuitBreaker] = {}


@dataclass(frozen=True, slots=True)
class Server:
    """A facilitator: its address, and the bearer token that it requires, if any."""

    url: str
    token: str = field(repr=False)


def configured_servers() -> list[Server]:
    """Return the configured facilitators, the fallback last."""
    configured = (
        (settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN),
        (settings.FACILITATOR_FALLBACK_URL, settings.FACILITATOR_FALLBACK_TOKEN),
    )
    return [Server(url, token) for url, token in configured if url]


def settle(
    *, payload: dict[str, object], requirement: PaymentRequirements, resource: ResourceInfo, payer: str
) -> Outcome:
    """Settle a signed payment (x402 version 2, POST /settle). At most 8 s with the fallback; never raises.

    The fallback is asked only if the first facilitator has certainly sent nothing. NotSent while the breakers of all
    facilitators are open, and while all threads but one settle: after SLOT_WAIT_S, or at once where one of them has
    taken longer than that.
    """
    payment = PaymentPayload(payload=payload, accepted=requirement, resource=resource)
    body = {
        "x402Version": 2,
        "paymentPayload": payment.model_dump(mode="json", exclude_none=True),
        "paymentRequirements": requirement.model_dump(mode="json", exclude_none=True),
    }
    started = time.monotonic()
    with bulkhead.slot() as is_admitted:
        if is_admitted:
            outcome = _settle_at_first_available(body, payer=payer)
        else:
            outcome = NotSent("too many settlements at a time", facilitator=public_url(settings.FACILITATOR_URL))
            logger.warning("not settled: %s", outcome)
    counters.SETTLEMENTS.labels(type(outcome).__name__.lower()).observe(time.monotonic() - started)
    return outcome


def _settle_at_first_available(body: dict[str, object], *, payer: str) -> Outcome:
    """Ask one facilitator after the other, while none can have sent anything and there is time."""
    deadline = Deadline.after(limit_timeout(TOTAL_S, reserve_s=RESERVED_S))
    outcome: Outcome = NotSent("there was no time for a facilitator")
    for server, min_left_s in zip(configured_servers(), MIN_TIME_LEFT_S, strict=False):
        left_s = deadline.remaining_s
        if left_s < min_left_s:
            break
        outcome = replace(_settle_at(server, body, payer=payer, within_s=left_s), facilitator=public_url(server.url))
        if not isinstance(outcome, Settled):
            logger.warning("not settled: %s", outcome)
        if not isinstance(outcome, NotSent):
            break
    return outcome


def _settle_at(server: Server, body: dict[str, object], *, payer: str, within_s: float) -> Outcome:
    """Ask this facilitator, unless its breaker is open."""
    breaker = breakers.setdefault(
        server.url,
        CircuitBreaker(
            f"the facilitator {public_url(server.url)}",
            fallback="payments go to the other one, or are refused",
            failure_threshold=FAILURE_THRESHOLD,
            recovery_s=RECOVERY_S,
            probe_timeout_s=TOTAL_S,
        ),
    )
    if not breaker.allow_request():
        return NotSent("circuit breaker open")
    answer = _post(server, body, within_s=within_s)
    if isinstance(answer, Outcome):
        breaker.record_failure(answer.reason)
    else:
        breaker.record_success()
    place = "first" if server.url == settings.FACILITATOR_URL else "second"
    counters.CIRCUIT_OPEN.labels(place).set(breaker.state is not State.CLOSED)
    return answer if isinstance(answer, Outcome) else _classify(*answer, payer=payer)


def _post(server: Server, body: dict[str, object], *, within_s: float) -> tuple[int, bytes] | NotSent | Unknown:
    """Return the status and the beginning of the body of the facilitator's answer; without one, what follows."""
    # A loop for each request: only a loop can end a hanging request, and closing it does not wait for a name server.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_post_async(server, body, within_s=within_s))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        return NotSent(type(error).__name__)
    except (httpx.HTTPError, TimeoutError) as error:
        return Unknown(type(error).__name__)
    except Exception as error:  # noqa: BLE001
        # An address or a token that no connection accepts fails in many ways; the payment must not be lost to it.
        logger.error("the facilitator cannot be asked: %s", type(error).__name__)
        return Unknown(type(error).__name__)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _post_async(server: Server, body: dict[str, object], *, within_s: float) -> tuple[int, bytes]:
    url = f"{server.url.rstrip('/')}/settle"
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    # No connection is reused: one that the other side closes just now would leave a payment unknown.
    async with (
        asyncio.timeout(within_s),
        httpx.AsyncClient(verify=_ssl_context(), mounts=NO_PROXY_TO_LOOPBACK, timeout=TIMEOUT) as client,
        client.stream("POST", url, json=body, headers=headers) as response,
    ):
        content = b""
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                break
        return response.status_code, content[:MAX_BYTES]


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the trusted certificates; loading them takes longer than a request."""
    return httpx.create_ssl_context()


def _classify(status: int, content: bytes, *, payer: str) -> Outcome:
    """Classify the facilitator's answer: what is certain of the payment."""
    try:
        answer = SettleResponse.model_validate_json(content)
    except ValidationError:
        if 300 <= status < 400 or status in NOT_PROCESSED_STATUSES:
            return NotSent(f"HTTP {status}")
        return Unknown(f"HTTP {status}, and no settlement in it")
    transaction = answer.transaction.lower() if HASH.fullmatch(answer.transaction) else None
    if answer.success:
        if transaction is None or (answer.payer or payer).lower() != payer:
            return Unknown("reported as settled, without a transaction or for another payer")
        return Settled(transaction=transaction)
    text = (answer.error_reason or "")[:MAX_REASON_LENGTH]
    reason = "".join(char if char.isprintable() else " " for char in text).strip() or "no reason"
    if reason == error_codes.PENDING:
        return Unknown(reason, transaction)
    if reason in error_codes.MAYBE_USED:
        return Failed(reason)
    if transaction:
        # Mined and reverted, or still pending.
        return Failed(reason, transaction)
    if answer.transaction:
        return Unknown(reason)
    if reason in error_codes.RETRYABLE:
        return NotSent(reason)
    return Rejected(reason) if reason in error_codes.REFUSED else Unknown(reason)
