"""Prometheus counters and histograms of the checkout, the facilitators and the chain's node, counted per process.

No series names a payer, an address or the content of a request.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from framework.errors import ApiError, ErrorCode
from framework.observability.prometheus_multiprocess import ENV_VARIABLE, process_start_time

# Facilitators choose the wording of their reasons, and each reason is a series.
REASON = re.compile("[a-z0-9_]{1,60}")
MAX_REASONS = 60

disable_created_metrics()  # type: ignore[no-untyped-call]
registry = CollectorRegistry()
CHALLENGES = Counter(
    "tablewire_payment_challenges",
    "Responses that named a price to a request without payment.",
    ["product", "channel"],
    registry=registry,
)
REFUSALS = Counter("tablewire_payment_refusals", "Payments that bought nothing.", ["reason"], registry=registry)
UNSIGNED = Counter(
    "tablewire_payment_unsigned",
    "Offers, receipts and statements that could not be signed: what they belong to went out without.",
    ["kind"],
    registry=registry,
)
SETTLEMENTS = Histogram(
    "tablewire_settle_seconds",
    "Duration of settlements at the facilitator.",
    ["outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8.5),
    registry=registry,
)
CIRCUIT_OPEN = Gauge(
    "tablewire_facilitator_circuit_open",
    "Processes whose circuit breaker for a facilitator is not closed.",
    ["facilitator"],
    multiprocess_mode="livesum",
    registry=registry,
)
RPC_CALLS = Histogram(
    "tablewire_rpc_seconds",
    "Duration of requests to the chain's node.",
    ["method", "outcome"],
    buckets=(0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5),
    registry=registry,
)
reasons: set[str] = set()


@contextmanager
def count_refusals(products: Sequence[str], *, channel: str, has_proof: bool) -> Iterator[None]:
    """Count the refusals of a checkout; a refusal for want of a proof counts as a challenge of each product."""
    try:
        yield
    except ApiError as refusal:
        if not has_proof and refusal.code == ErrorCode.PAYMENT_REQUIRED:
            for product in dict.fromkeys(products):
                CHALLENGES.labels(product, channel).inc()
        else:
            REFUSALS.labels(reason_label(refusal)).inc()
        raise


def reason_label(refusal: ApiError) -> str:
    """Return the refusal's reason or code as a label; "other" beyond MAX_REASONS different ones."""
    reason = str((getattr(refusal, "body_override", None) or {}).get("reason") or refusal.code.value)
    if not REASON.fullmatch(reason) or (reason not in reasons and len(reasons) >= MAX_REASONS):
        return "other"
    reasons.add(reason)
    return reason


@contextmanager
def time_rpc_call(methods: Sequence[str]) -> Iterator[None]:
    """Record the duration of one request to the node, which calls these methods."""
    started, outcome = time.monotonic(), "failed"
    try:
        yield
        outcome = "answered"
    finally:
        method = methods[0] if len(methods) == 1 else "batch"
        RPC_CALLS.labels(method, outcome).observe(time.monotonic() - started)


def render() -> bytes:
    """Return all series in Prometheus' text format: of all processes that share a directory, else of this one."""
    folder = os.environ.get(ENV_VARIABLE)
    if not folder:
        return generate_latest(registry)
    # The counters of a process that has ended stay; its live gauges are deleted.
    for file in Path(folder).iterdir():
        match = re.fullmatch(r"gauge_live\w+_([0-9]+)\.db", file.name)
        if match and not process_start_time(int(match[1])):
            mark_process_dead(int(match[1]), path=folder)  # type: ignore[no-untyped-call]
    shared = CollectorRegistry()
    MultiProcessCollector(shared, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(shared)
