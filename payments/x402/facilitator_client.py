"""Asks the facilitator to settle, once, and tells apart what is certain from what is not."""

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

from framework.http_client import DIRECT
from framework.resilience import deadline
from framework.resilience.bulkhead import THREADS, Breaker, Slots
from payments.facilitator_server import error_codes
from payments.observability import counters

logger = logging.getLogger("tablewire.payments")

# All trips for one payment, and the parts of a trip: httpx limits only each wait, and a drop now and then would keep
# it waiting for ever. Our own facilitator answers within 7 seconds.
TOTAL_S = 8.0
TIMEOUT = httpx.Timeout(7.5, connect=2.0, write=2.0, pool=2.0)
# With less left than this a facilitator is not asked: the first could not begin, another not end what it began.
LEAST_S = (0.2, 3.0)
# For the question to the chain that may follow, and for writing down what came of it.
KEPT_S = 0.5
MOST_BYTES = 64 * 1024
# It is not there, not for us, or too busy: it has not come to look at the payment. Not 400, with which many a
# facilitator answers whatever fails while it settles, and no other one that may be said of a payment under way.
NOT_LOOKED = frozenset({401, 403, 404, 405, 413, 429})
# Of a reason, which goes into the log and into our answers.
MOST_LETTERS = 100
HASH = re.compile(r"0x[0-9a-fA-F]{64}")


def asked_at(url: str) -> str:
    """The facilitator at this address as the ledger names it: without name, password, path and query, for what a
    hosted one lets in may be a part of any of them.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"[:200]


@dataclass(frozen=True, slots=True)
class Settled:
    """The money has arrived in this transaction."""

    transaction: str
    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The facilitator has refused before it sent anything; somebody else may have sent the payment."""

    reason: str
    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class NotSent:
    """The facilitator was not reached, or never looked at the payment: surely nothing has moved."""

    why: str
    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It was asked and has not said how it ended."""

    why: str
    transaction: str | None = None
    by: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """It has not settled, it says: its transaction has failed, or (None) somebody's did not. Only the chain knows."""

    reason: str
    transaction: str | None = None
    by: str = field(default="", compare=False)


Outcome = Settled | Rejected | NotSent | Unknown | Failed


# A facilitator that is well has mostly answered by then.
SOON_S = 1.0
# All threads but one may settle at a time.
slots = Slots(max(1, THREADS - 1), soon_s=SOON_S)
# A facilitator that was away or silent so many times in a row is left alone for this long; then one trip tries it.
FAILURES = 2
REST_S = 5.0
# By address.
healths: dict[str, Breaker] = {}


class NoAnswer(Exception):
    """It was away or silent; `outcome` says what that means for the payment."""

    def __init__(self, outcome: NotSent | Unknown) -> None:
        super().__init__(outcome.why)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Server:
    """A facilitator: its address, and the token that it wants to see, if any."""

    url: str
    token: str = field(repr=False)


def servers() -> list[Server]:
    """Ours, the one that is asked first before the one that is asked in its place."""
    named = (
        (settings.FACILITATOR_URL, settings.FACILITATOR_TOKEN),
        (settings.FACILITATOR_FALLBACK_URL, settings.FACILITATOR_FALLBACK_TOKEN),
    )
    return [Server(url, token) for url, token in named if url]


@counters.timing_settlements
def settle(
    *, payload: dict[str, object], requirement: PaymentRequirements, resource: ResourceInfo, payer: str
) -> Outcome:
    """Settle a signed payment (x402 version 2, POST /settle). A trip, 8 seconds at most with the second; never raises.

    The second facilitator is asked only where the first has surely sent nothing. NotSent while all facilitators are
    left alone, and where all threads but one settle: after SOON_S, or at once where one has done so for longer.
    """
    payment = PaymentPayload(payload=payload, accepted=requirement, resource=resource)
    question = {
        "x402Version": 2,
        "paymentPayload": payment.model_dump(mode="json", exclude_none=True),
        "paymentRequirements": requirement.model_dump(mode="json", exclude_none=True),
    }
    with slots.taken() as has_room:
        if has_room:
            return _by_one_of(servers(), question, payer=payer)
    outcome = NotSent("too many settlements at a time", by=asked_at(settings.FACILITATOR_URL))
    logger.warning("not settled: %s", outcome)
    return outcome


def _by_one_of(asked: list[Server], question: dict[str, object], *, payer: str) -> Outcome:
    """Ask one after the other, as long as none can have sent anything and there is time."""
    until = time.monotonic() + deadline.at_most(TOTAL_S, keeping=KEPT_S)
    outcome: Outcome = NotSent("there was no time for a facilitator")
    for server, least_s in zip(asked, LEAST_S, strict=False):
        left_s = until - time.monotonic()
        if left_s < least_s:
            break
        outcome = replace(_by(server, question, payer=payer, within_s=left_s), by=asked_at(server.url))
        if not isinstance(outcome, Settled):
            logger.warning("not settled: %s", outcome)
        if not isinstance(outcome, NotSent):
            break
    return outcome


def _by(server: Server, question: dict[str, object], *, payer: str, within_s: float) -> Outcome:
    """Ask this one, unless it is left alone."""
    health = healths.setdefault(server.url, Breaker(FAILURES, rest_s=REST_S, trip_s=TOTAL_S))
    if not health.admits():
        return NotSent("left alone after failures")
    try:
        status, content = _ask(server, question, within_s=within_s)
    except NoAnswer as error:
        health.note(answered=False)
        return error.outcome
    else:
        health.note(answered=True)
    finally:
        place = "first" if server.url == settings.FACILITATOR_URL else "second"
        counters.RESTING.labels(place).set(health.is_open)
    return _read(status, content, payer=payer)


def _ask(server: Server, question: dict[str, object], *, within_s: float) -> tuple[int, bytes]:
    """The answer's status and the beginning of its body. Raises NoAnswer."""
    # A loop for each trip: only a loop can end one that hangs, and its close does not wait for a name server either.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_trip(server, question, within_s=within_s))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise NoAnswer(NotSent(type(error).__name__)) from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise NoAnswer(Unknown(type(error).__name__)) from error
    except Exception as error:
        # An address or a token that no connection takes breaks in many ways; the payment must not be lost to it.
        logger.error("the facilitator cannot be asked: %s", type(error).__name__)
        raise NoAnswer(Unknown(type(error).__name__)) from error
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _trip(server: Server, question: dict[str, object], *, within_s: float) -> tuple[int, bytes]:
    url = f"{server.url.rstrip('/')}/settle"
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    # No connection is kept: one that the other side closes just now would leave a payment unknown.
    async with (
        asyncio.timeout(within_s),
        httpx.AsyncClient(verify=_trusted(), mounts=DIRECT, timeout=TIMEOUT) as client,
        client.stream("POST", url, json=question, headers=headers) as response,
    ):
        content = b""
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MOST_BYTES:
                break
        return response.status_code, content[:MOST_BYTES]


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed; reading them takes longer than a trip."""
    return httpx.create_ssl_context()


def _read(status: int, content: bytes, *, payer: str) -> Outcome:
    try:
        answer = SettleResponse.model_validate_json(content)
    except ValidationError:
        if 300 <= status < 400 or status in NOT_LOOKED:
            return NotSent(f"HTTP {status}")
        return Unknown(f"HTTP {status}, and no settlement in it")
    return _judged(answer, payer=payer)


def _judged(answer: SettleResponse, *, payer: str) -> Outcome:
    transaction = answer.transaction.lower() if HASH.fullmatch(answer.transaction) else None
    if answer.success:
        if transaction is None or (answer.payer or payer).lower() != payer:
            return Unknown("settled, it says, but neither this payment nor a transaction")
        return Settled(transaction)
    reason = cleaned(answer.error_reason or "")
    if reason == error_codes.PENDING:
        return Unknown(reason, transaction)
    if reason in error_codes.MAYBE_USED:
        return Failed(reason)
    if transaction:
        # Mined and reverted, or on its way still.
        return Failed(reason, transaction)
    if answer.transaction:
        return Unknown(reason)
    if reason in error_codes.LATER:
        return NotSent(reason)
    return Rejected(reason) if error_codes.sends_nothing(reason) else Unknown(reason)


def cleaned(reason: str) -> str:
    """What a facilitator gives as its reason, as it may be shown and written down."""
    printable = "".join(letter if letter.isprintable() else " " for letter in reason[:MOST_LETTERS])
    return printable.strip() or "no reason"
