"""The daily cost budget (UTC) of model calls: reserved before a call, settled after it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from catalogue.insights.providers.base import TokenUsage
from catalogue.insights.providers.registry import ProviderVersion
from catalogue.models import InsightCall
from framework.db.locks import AdvisoryLock

BUDGET_LOCK = AdvisoryLock("insight budget")
# Of all workers: more calls would only queue at the model.
MAX_OPEN_CALLS = 4
# Celery ends a task after 120 s, so a call that is open for longer has lost its worker.
CALL_TIMEOUT = timedelta(seconds=180)
# Circuit breaker: after so many failed calls in a row the model rests. Calls that lose their worker count.
MAX_FAILURES = 3
COOL_DOWN = timedelta(minutes=10)
USD_STEP = Decimal("0.000001")
MAX_REASON_LENGTH = 500

Outcome = InsightCall.Outcome


class JobResult(StrEnum):
    """DONE (by the model or the fallback), SUPERSEDED by another worker, or why the model was not called."""

    DONE = "done"
    SUPERSEDED = "superseded"
    BUSY = "busy"
    BUDGET_SPENT = "budget_spent"
    MODEL_DOWN = "model_down"


@dataclass(frozen=True, slots=True)
class DailySpending:
    """Spending of a day in USD: `spent` by ended calls, `reserved` by open ones at most."""

    spent: Decimal
    reserved: Decimal
    calls: int

    @property
    def total(self) -> Decimal:
        """Spent and reserved."""
        return self.spent + self.reserved


def cost_usd(usage: TokenUsage) -> Decimal:
    """The cost of these tokens by the configured prices, rounded up."""
    exact = usage.input * settings.INSIGHT_INPUT_USD + usage.output * settings.INSIGHT_OUTPUT_USD
    return Decimal(exact / 1_000_000).quantize(USD_STEP, ROUND_UP)


def daily_spending(now: datetime) -> DailySpending:
    """The spending of the day of this moment. One query."""
    start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    calls = InsightCall.objects.filter(started_at__gte=start, started_at__lt=start + timedelta(days=1))
    is_open = Q(outcome=Outcome.PENDING)
    sums = calls.aggregate(
        spent=Sum("cost_usd", filter=~is_open, default=Decimal(0)),
        reserved=Sum("cost_usd", filter=is_open, default=Decimal(0)),
        calls=Count("pk"),
    )
    return DailySpending(**sums)


def reserve(
    restaurant: UUID,
    *,
    version: ProviderVersion,
    digest: str,
    max_cost_usd: Decimal,
    is_needed: Callable[[], bool] = lambda: True,
    now: datetime,
) -> InsightCall | JobResult:
    """Record a call that is about to start and reserve its maximum cost, or say why it must not start.

    Reservations are serialized, so a day never costs more than INSIGHT_DAILY_BUDGET_USD. `is_needed` is called under
    the lock, because another call for the same restaurant may just have ended. Commits: call it outside of
    transactions.
    """
    with transaction.atomic():
        BUDGET_LOCK.acquire()
        open_calls = set(InsightCall.objects.filter(outcome=Outcome.PENDING).values_list("restaurant", flat=True))
        if restaurant in open_calls or not is_needed():
            return JobResult.SUPERSEDED
        if len(open_calls) >= MAX_OPEN_CALLS:
            return JobResult.BUSY
        if _is_down(version, now=now):
            return JobResult.MODEL_DOWN
        today = daily_spending(now)
        if today.total + max_cost_usd > settings.INSIGHT_DAILY_BUDGET_USD:
            # Open calls may return a part of their reservation.
            fits = today.spent + max_cost_usd <= settings.INSIGHT_DAILY_BUDGET_USD
            return JobResult.BUSY if fits else JobResult.BUDGET_SPENT
        return InsightCall.objects.create(
            restaurant_id=restaurant,
            provider=version.name,
            provider_version=version.version,
            model=version.model,
            input_hash=digest,
            cost_usd=max_cost_usd,
            started_at=now,
        )


def settle(call: InsightCall, *, outcome: str, reason: str, usage: TokenUsage | None, now: datetime) -> bool:
    """Record the outcome and cost of a call. Returns whether it was still open. One statement.

    Without `usage` the call keeps its reserved cost.
    """
    columns: dict[str, object] = {"outcome": outcome, "reason": reason[:MAX_REASON_LENGTH], "ended_at": now}
    if usage:
        columns |= {"cost_usd": cost_usd(usage), "input_tokens": usage.input, "output_tokens": usage.output}
    return bool(InsightCall.objects.filter(pk=call.pk, outcome=Outcome.PENDING).update(**columns))


def close_abandoned_calls(*, now: datetime) -> int:
    """Close the calls whose worker died, at their reserved cost. Returns how many. One statement."""
    abandoned = InsightCall.objects.filter(outcome=Outcome.PENDING, started_at__lt=now - CALL_TIMEOUT)
    return abandoned.update(outcome=Outcome.FAILED, reason="Its worker died; it may have been charged.", ended_at=now)


def declined_calls(version: ProviderVersion) -> QuerySet[InsightCall]:
    """Calls whose output was refused or rejected: a call with the same input would cost again for nothing."""
    outcomes = [Outcome.REFUSED, Outcome.REJECTED]
    return InsightCall.objects.filter(version.as_condition(), outcome__in=outcomes).exclude(input_hash="")


def _is_down(version: ProviderVersion, *, now: datetime) -> bool:
    calls = InsightCall.objects.filter(
        provider=version.name, model=version.model, started_at__gte=now - COOL_DOWN - CALL_TIMEOUT
    )
    ended = calls.exclude(outcome=Outcome.PENDING).order_by("-ended_at", "-pk").values_list("outcome", "ended_at")
    latest = list(ended[:MAX_FAILURES])
    if len(latest) < MAX_FAILURES or any(outcome != Outcome.FAILED for outcome, _ in latest):
        return False
    ended_at = latest[0][1]
    return ended_at is not None and ended_at > now - COOL_DOWN
