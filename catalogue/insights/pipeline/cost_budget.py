"""What asking a model may cost in a day (UTC): reserved before it is asked, put right when it has answered."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from catalogue.insights.providers.base import Tokens
from catalogue.insights.providers.registry import Author
from catalogue.models import InsightCall
from framework.db.locks import AdvisoryLock

BUDGET_LOCK = AdvisoryLock("insight budget")
# Calls that are open at once, of all workers: more would only wait for one model.
MOST_ABREAST = 4
# Celery ends a task after 120 s, so nobody is behind a call that is open for longer.
LOST_AFTER = timedelta(seconds=180)
# A model that gave no answer so often in a row is left alone for a while, and so is one that takes its worker with it.
MOST_FAILURES = 3
REST = timedelta(minutes=10)
LEAST = Decimal("0.000001")
MILLION = 1_000_000
LONGEST_REASON = 500

Outcome = InsightCall.Outcome


class Refused(StrEnum):
    """Why a model is not asked now."""

    SPENT = "spent"
    BUSY = "busy"
    AWAY = "away"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Day:
    """The spending of a day in USD: `spent` is sure, `reserved` is what open calls can cost at most."""

    spent: Decimal
    reserved: Decimal
    calls: int

    @property
    def total(self) -> Decimal:
        """Spent and reserved."""
        return self.spent + self.reserved


def cost(tokens: Tokens) -> Decimal:
    """What so many tokens cost by the settings, in USD, rounded up."""
    exact = tokens.input * settings.INSIGHT_INPUT_USD + tokens.output * settings.INSIGHT_OUTPUT_USD
    return Decimal(exact / MILLION).quantize(LEAST, ROUND_UP)


def day(now: datetime) -> Day:
    """What the day of this moment has cost so far. One query."""
    begins = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    calls = InsightCall.objects.filter(started_at__gte=begins, started_at__lt=begins + timedelta(days=1))
    is_open = Q(outcome=Outcome.PENDING)
    sums = calls.aggregate(
        spent=Sum("cost_usd", filter=~is_open, default=Decimal(0)),
        reserved=Sum("cost_usd", filter=is_open, default=Decimal(0)),
        calls=Count("pk"),
    )
    return Day(**sums)


def reserve(
    restaurant: UUID,
    *,
    author: Author,
    digest: str,
    most: Decimal,
    is_needed: Callable[[], bool] = lambda: True,
    now: datetime,
) -> InsightCall | Refused:
    """Write down that the model is about to be asked, which takes `most` USD off the day; or why it must not be.

    However many ask at once, a day never costs more than INSIGHT_DAILY_BUDGET_USD: one after the other reserves here.
    `is_needed` is asked when it is our turn, for a call for the same may have ended a moment ago. Committed when this
    returns, so call it outside of any transaction.
    """
    with transaction.atomic():
        BUDGET_LOCK.acquire()
        open_ones = set(InsightCall.objects.filter(outcome=Outcome.PENDING).values_list("restaurant", flat=True))
        if restaurant in open_ones or not is_needed():
            return Refused.TAKEN
        if len(open_ones) >= MOST_ABREAST:
            return Refused.BUSY
        if _is_away(author, now=now):
            return Refused.AWAY
        today = day(now)
        if today.total + most > settings.INSIGHT_DAILY_BUDGET_USD:
            # What others have reserved may come back.
            fits = today.spent + most <= settings.INSIGHT_DAILY_BUDGET_USD
            return Refused.BUSY if fits else Refused.SPENT
        return InsightCall.objects.create(
            restaurant_id=restaurant,
            provider=author.name,
            provider_version=author.version,
            model=author.model,
            input_hash=digest,
            cost_usd=most,
            started_at=now,
        )


def settle(call: InsightCall, *, outcome: str, reason: str, used: Tokens | None, now: datetime) -> bool:
    """Write down how the call ended and what it cost; whether it was still open. One statement.

    Where nobody knows what was used it keeps what it has reserved.
    """
    known = {"cost_usd": cost(used), "input_tokens": used.input, "output_tokens": used.output} if used else {}
    return bool(
        InsightCall.objects.filter(pk=call.pk, outcome=Outcome.PENDING).update(
            outcome=outcome, reason=reason[:LONGEST_REASON], ended_at=now, **known
        )
    )


def end_lost(*, now: datetime) -> int:
    """End the calls whose worker died, which keep what they have reserved; how many. One statement."""
    lost = InsightCall.objects.filter(outcome=Outcome.PENDING, started_at__lt=now - LOST_AFTER)
    return lost.update(outcome=Outcome.FAILED, reason="Its worker died; it may have been charged.", ended_at=now)


def declined(author: Author) -> QuerySet[InsightCall]:
    """The calls in which the model answered with what cannot be served: the same input would only cost again."""
    return InsightCall.objects.filter(author.wrote(), outcome__in=[Outcome.REFUSED, Outcome.REJECTED]).exclude(
        input_hash=""
    )


def _is_away(author: Author, *, now: datetime) -> bool:
    calls = InsightCall.objects.filter(
        provider=author.name, model=author.model, started_at__gte=now - REST - LOST_AFTER
    )
    ended = calls.exclude(outcome=Outcome.PENDING).order_by("-ended_at", "-pk").values_list("outcome", "ended_at")
    last = list(ended[:MOST_FAILURES])
    if len(last) < MOST_FAILURES or any(outcome != Outcome.FAILED for outcome, _ in last):
        return False
    ended_at = last[0][1]
    return ended_at is not None and ended_at > now - REST
