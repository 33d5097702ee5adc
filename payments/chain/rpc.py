"""JSON-RPC client for the node of the chain that payments run on."""

import logging
from collections.abc import Sequence
from typing import Any

import httpx
from django.conf import settings

from framework.errors import ServiceUnavailable
from framework.http_client import SharedClient
from framework.resilience.bulkhead import Bulkhead
from framework.resilience.circuit_breaker import CircuitBreaker, State
from framework.resilience.deadline import has_response_deadline, limit_timeout
from payments.observability import counters

logger = logging.getLogger("tablewire.payments")

# Timeouts of one HTTP request: in a worker or a command, and while a client waits for a response.
WORKER_TIMEOUT_S, RESPONSE_TIMEOUT_S = 5.0, 2.0
# A request that timed out in less than this says nothing about the node.
MIN_PROBE_TIMEOUT_S = 1.0
# After a failure no request waits for the node for this long; then one request probes it.
RECOVERY_S = 5.0
# A healthy node has answered by then, even under load.
MAX_QUEUE_S = 1.0

http_client = SharedClient()
bulkhead = Bulkhead(max_wait_s=MAX_QUEUE_S)
# By the node's URL.
breakers: dict[str, CircuitBreaker] = {}


class RpcUnavailable(ServiceUnavailable):
    """The chain cannot be read at the moment."""

    def __init__(self, message: str = "The chain cannot be read for a moment. Try again.") -> None:
        super().__init__(message, headers={"Retry-After": "5"})


class RpcError(RpcUnavailable):
    """The node answered with an error. `reason` is its text, for our logs only."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def get_breaker(url: str) -> CircuitBreaker:
    """Return the circuit breaker of the node at this URL."""
    return breakers.setdefault(
        url,
        CircuitBreaker(
            "the chain's node",
            fallback="calls are refused",
            recovery_s=RECOVERY_S,
            probe_timeout_s=WORKER_TIMEOUT_S + RESPONSE_TIMEOUT_S,
        ),
    )


def call(method: str, *params: Any) -> Any:
    """Return the result of one call. Raises RpcUnavailable, or its subclass RpcError."""
    return batch([(method, params)])[0]


def batch(calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
    """Return the results of several calls, in their order. One HTTP request.

    Raises RpcUnavailable when the node does not answer, RpcError when it answers any of them with an error.
    """
    requests = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        for number, (method, params) in enumerate(calls)
    ]
    with counters.time_rpc_call([method for method, _ in calls]):
        responses = _post(requests if len(requests) > 1 else requests[0])
        by_id = {response.get("id"): response for response in responses if isinstance(response, dict)}
        results = []
        for request in requests:
            response = by_id.get(request["id"])
            if response is None or "result" not in response:
                # A node that cannot read the batch answers once, without an id.
                reason = (response or by_id.get(None) or {}).get("error", "no answer")
                raise RpcError(f"{request['method']}: {reason}")
            results.append(response["result"])
        return results


def _post(content: Any) -> list[Any]:
    """Send the request; while a client waits, within the bulkhead and the response deadline."""
    if not has_response_deadline():
        return _send(content, timeout_s=WORKER_TIMEOUT_S)
    # Creating the client takes longer than a request, so it happens outside of the bulkhead.
    http_client.get()
    with bulkhead.slot() as is_admitted:
        if not is_admitted:
            raise RpcUnavailable
        return _send(content, timeout_s=limit_timeout(RESPONSE_TIMEOUT_S))


def _send(content: Any, *, timeout_s: float) -> list[Any]:
    url: str = settings.RPC_URL
    breaker = get_breaker(url)
    is_too_short = timeout_s < MIN_PROBE_TIMEOUT_S
    if timeout_s == 0 or (is_too_short and breaker.state is not State.CLOSED) or not breaker.allow_request():
        raise RpcUnavailable
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, RESPONSE_TIMEOUT_S))
    try:
        try:
            response = http_client.get().post(url, json=content, timeout=timeout)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # The node just closed the kept-alive connection. All calls only read, so repeating one is safe.
            with http_client.new() as client:
                response = client.post(url, json=content, timeout=timeout)
    except httpx.HTTPError as error:
        # Only the class is logged: the URL, which httpx names in its errors, often holds the key of a hosted node.
        reason = type(error).__name__
        logger.warning("the chain's node did not answer: %s", reason)
        if isinstance(error, httpx.TimeoutException) and is_too_short:
            pass
        elif isinstance(error, httpx.TimeoutException | httpx.ConnectError):
            breaker.record_failure(reason)
        else:
            breaker.record_success()
        raise RpcUnavailable from error
    breaker.record_success()
    try:
        answer = response.json()
    except ValueError as error:
        logger.warning("the chain's node answered %s without JSON", response.status_code)
        raise RpcUnavailable from error
    return answer if isinstance(answer, list) else [answer]
