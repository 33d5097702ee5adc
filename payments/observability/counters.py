"""What the processes of a web server count as they sell, in the series of Prometheus.

No series names a payer, an address or what somebody asked for.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from framework.errors import ApiError, ErrorCode

# A name that prometheus_client has chosen: where it is set, the processes of a web server count into files there.
SHARED = "PROMETHEUS_MULTIPROC_DIR"
# Facilitators word reasons as they like.
REASON = re.compile("[a-z0-9_]{1,60}")
MOST_REASONS = 60

disable_created_metrics()  # type: ignore[no-untyped-call]
registry = CollectorRegistry()
CHALLENGES = Counter(
    "tablewire_payment_challenges",
    "Answers that told a price to who had not paid.",
    ["product", "channel"],
    registry=registry,
)
REFUSALS = Counter("tablewire_payment_refusals", "Payments that bought nothing.", ["reason"], registry=registry)
SETTLEMENTS = Histogram(
    "tablewire_settle_seconds",
    "How long settlements took at the facilitator.",
    ["outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8.5),
    registry=registry,
)
RESTING = Gauge(
    "tablewire_facilitator_resting",
    "Processes that leave a facilitator alone after failures.",
    ["facilitator"],
    multiprocess_mode="livesum",
    registry=registry,
)
CALLS = Histogram(
    "tablewire_rpc_seconds",
    "How long the chain's node took.",
    ["method", "outcome"],
    buckets=(0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5),
    registry=registry,
)
reasons: set[str] = set()

Function = TypeVar("Function", bound=Callable[..., Any])


# Counting
def counting_sales(collect: Function) -> Function:
    """Count the refusals of a function that sells `products` for a `proof`, a challenge where there was none."""

    @wraps(collect)
    def counted(purchase: Any, *, products: Sequence[str], proof: object, **rest: Any) -> Any:
        try:
            return collect(purchase, products=products, proof=proof, **rest)
        except ApiError as refusal:
            if proof is None and refusal.code == ErrorCode.PAYMENT_REQUIRED:
                for product in products:
                    CHALLENGES.labels(product, purchase.channel).inc()
            else:
                REFUSALS.labels(reason_of(refusal)).inc()
            raise

    return counted  # type: ignore[return-value]


def reason_of(refusal: ApiError) -> str:
    """Why, in one word of not too many."""
    said = str((getattr(refusal, "body_override", None) or {}).get("reason") or refusal.code.value)
    if not REASON.fullmatch(said) or (said not in reasons and len(reasons) >= MOST_REASONS):
        return "other"
    reasons.add(said)
    return said


def timing_settlements(settle: Function) -> Function:
    """Time a function whose result's type says how a settlement ended."""

    @wraps(settle)
    def timed(*args: Any, **rest: Any) -> Any:
        started = time.monotonic()
        outcome = settle(*args, **rest)
        SETTLEMENTS.labels(type(outcome).__name__.lower()).observe(time.monotonic() - started)
        return outcome

    return timed  # type: ignore[return-value]


@contextmanager
def timing_call(methods: Sequence[str]) -> Iterator[None]:
    """Time one trip to the node, of these methods."""
    started, outcome = time.monotonic(), "failed"
    try:
        yield
        outcome = "answered"
    finally:
        method = methods[0] if len(methods) == 1 else "batch"
        CALLS.labels(method, outcome).observe(time.monotonic() - started)


# Reading
def text() -> bytes:
    """All series in Prometheus' text format: of all processes that count into one place, or of this one."""
    reading = registry
    folder = os.environ.get(SHARED)
    if folder:
        reading = CollectorRegistry()
        forget_the_dead(folder)
        MultiProcessCollector(reading, path=folder)  # type: ignore[no-untyped-call]
    return generate_latest(reading)


def forget_the_dead(folder: str) -> None:
    """Take away what processes said of themselves that have ended; what they have counted stays."""
    for file in Path(folder).iterdir():
        found = re.fullmatch(r"gauge_live\w+_([0-9]+)\.db", file.name)
        if found and not is_alive(int(found[1])):
            mark_process_dead(int(found[1]), path=folder)  # type: ignore[no-untyped-call]


def is_alive(process: int) -> bool:
    """Whether there is such a process on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
