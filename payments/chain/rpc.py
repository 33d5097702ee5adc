"""Talks JSON-RPC with a node of the chain on which is paid."""

import logging
from collections.abc import Sequence
from typing import Any

import httpx
from django.conf import settings

from framework.errors import Unavailable
from framework.http_client import Connections
from framework.resilience import deadline
from framework.resilience.bulkhead import THREADS, Breaker, Slots
from payments.observability import counters

logger = logging.getLogger("tablewire.payments")

# A node that is away is left alone for this long, so that it does not hold up every request for its timeout.
REST_S = 5.0


class RpcUnavailable(Unavailable):
    """The chain cannot be read for a moment."""

    def __init__(self, message: str = "The chain cannot be read for a moment. Try again.") -> None:
        super().__init__(message, headers={"Retry-After": "5"})


class RpcError(RpcUnavailable):
    """The node answered, and would not do it: `reason` is what it said, for our eyes."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


# A trip's silence: in a worker or a command, and where somebody waits for the answer.
PATIENT_S, WAITED_FOR_S = 5.0, 2.0
# Less than this says nothing about the node.
TELLING_S = 1.0
# A node that is well has answered by then, however busy.
SOON_S = 1.0
connections = Connections()
breakers: dict[str, Breaker] = {}
slots = Slots(max(1, THREADS - 1), soon_s=SOON_S)


def breaker_of(address: str) -> Breaker:
    """How the node at this address did lately."""
    return breakers.setdefault(address, Breaker(1, rest_s=REST_S, trip_s=PATIENT_S + WAITED_FOR_S))


def call(method: str, *params: Any) -> Any:
    """The result of one call. Raises RpcUnavailable, RpcError among them."""
    return batch([(method, params)])[0]


def batch(calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
    """The results of several calls in their order, for one trip to the node.

    Raises RpcUnavailable when the node is away, RpcError when it refuses any of them.
    """
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        for number, (method, params) in enumerate(calls)
    ]
    with counters.timing_call([method for method, _ in calls]):
        return _results(asked, _post(asked if len(asked) > 1 else asked[0]))


def _results(asked: Sequence[dict[str, Any]], answers: list[Any]) -> list[Any]:
    by_id = {answer.get("id"): answer for answer in answers if isinstance(answer, dict)}
    results = []
    for question in asked:
        answer = by_id.get(question["id"])
        if answer is None or "result" not in answer:
            # A node that cannot read the batch answers once, without an id.
            reason = (answer or by_id.get(None) or {}).get("error", "no answer")
            raise RpcError(f"{question['method']}: {reason}")
        results.append(answer["result"])
    return results


def _post(content: Any) -> list[Any]:
    # In a worker or a command nobody is kept waiting by those who wait.
    if not deadline.is_limited():
        return _trip(content, timeout_s=PATIENT_S)
    # Made at the first trip, which takes longer than the trip itself.
    connections.open()
    with slots.taken() as has_room:
        if not has_room:
            raise RpcUnavailable
        return _trip(content, timeout_s=deadline.at_most(WAITED_FOR_S))


def _trip(content: Any, *, timeout_s: float) -> list[Any]:
    address: str = settings.RPC_URL
    breaker = breaker_of(address)
    # Who has little time cannot find out for the others whether the node is back.
    if timeout_s == 0 or (breaker.is_open and timeout_s < TELLING_S) or not breaker.admits():
        raise RpcUnavailable
    # Neither the address nor what httpx says of it is logged: it often holds the key to a hosted node.
    try:
        response = _asked(address, content, timeout_s=timeout_s)
    except httpx.HTTPError as error:
        logger.warning("the chain's node is away: %s", type(error).__name__)
        is_short = isinstance(error, httpx.TimeoutException) and timeout_s < TELLING_S
        if not is_short:
            breaker.note(answered=not isinstance(error, httpx.ConnectError | httpx.TimeoutException))
        raise RpcUnavailable from error
    breaker.note(answered=True)
    try:
        answer = response.json()
    except ValueError as error:
        logger.warning("the chain's node answered %s without JSON", response.status_code)
        raise RpcUnavailable from error
    return answer if isinstance(answer, list) else [answer]


def _asked(address: str, content: Any, *, timeout_s: float) -> httpx.Response:
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, WAITED_FOR_S))
    try:
        return connections.open().post(address, json=content, timeout=timeout)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
        # The node has closed a kept connection just now. What is asked here only reads, so it may be asked twice.
        with connections.new() as fresh:
            return fresh.post(address, json=content, timeout=timeout)
