"""Writing insights down: which restaurants are due, and by whom theirs are written."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from time import monotonic
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from catalogue.insights.pipeline import batch_job, cost_budget, llm_job, persistence
from catalogue.insights.pipeline.llm_job import Step
from catalogue.insights.pipeline.staleness import FEWEST_REVIEWS, is_stale
from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import FALLBACK, Author, Provider, chosen
from catalogue.models import Insight, InsightCall, InsightDemand, Restaurant

logger = logging.getLogger("catalogue.insights")

# Restaurants that are looked up at once; their reviews are what takes time.
MOST_DUE = 2_000
# Of those for which a model is asked, as many as one task comes to.
MOST_ASKED = 40
# A task asks no more once this has passed: with the longest call that the settings allow (60 s) it ends before the
# soft limit of 90 s.
ASKING_S = 20
# A restaurant on which the provider fails waits so long, lest it come first again and again.
RETRY_AFTER = timedelta(days=1)
# Whoever asked so long ago has not come back.
DEMAND_KEPT = timedelta(days=30)


def refresh(
    *,
    now: datetime,
    at_most: int,
    provider: Provider | None = None,
    demanded: bool = False,
    only: UUID | None = None,
) -> int:
    """Write the insights that are missing or stale, those that somebody asked for first; how many that were.

    `demanded`, or `only` one restaurant, leaves all others alone. Stops after about `at_most` reviews, or after
    ASKING_S of asking a model, so 0 says that nothing is due or that others are at it. See batches.write; a model is
    asked outside of any transaction, and where it may not be asked (budget, no answers) what is missing or stale is
    counted by our own program.
    """
    provider = provider or chosen()
    if not isinstance(provider, RemoteProvider):
        found = _keys(due(now=now, provider=provider, demanded=demanded, only=only))
        return batch_job.write(found, now=now, at_most=at_most, provider=provider)
    began = monotonic()
    step, done = _ask(provider, now=now, demanded=demanded, only=only)
    if step not in (Step.SPENT, Step.AWAY):
        return done
    later = now + timedelta(seconds=monotonic() - began)
    _tell(step, later)
    return done + batch_job.write(
        _keys(due(now=later, provider=provider, demanded=demanded, only=only, without_asking=True)),
        now=later,
        at_most=at_most,
        provider=FALLBACK,
        accepted=[Author.of(provider)],
        # The model writes these first when it may be asked again.
        keeps_demand=True,
    )


def due(
    *,
    now: datetime,
    provider: Provider | None = None,
    demanded: bool = False,
    only: UUID | None = None,
    without_asking: bool = False,
) -> QuerySet[Restaurant]:
    """Restaurants with enough reviews and no insight, a stale one, or one that failed a while ago.

    What a model has declined is not tried again before it is stale. Those that somebody asked for first, by how often,
    then the most reviewed. `without_asking` a model: what it has written is as good as what our own program has. A
    quarter of a second over 356,000 restaurants.
    """
    provider = provider or chosen()
    writer, other = (FALLBACK, provider) if without_asking else (provider, None)
    is_to_be_tried = Q(insight__failed_at__isnull=False)
    if isinstance(provider, RemoteProvider):
        calls = cost_budget.declined(Author.of(provider)).filter(restaurant=OuterRef("pk"))
        is_to_be_tried &= Q(~Exists(calls.filter(input_hash=OuterRef("insight__input_hash"))))
    found = Restaurant.objects.filter(
        Q(insight=None) | is_stale(writer, now=now, insight="insight__", or_by=other) | is_to_be_tried,
        ~Q(insight__failed_at__gt=now - RETRY_AFTER),
        review_count__gte=FEWEST_REVIEWS,
    )
    if demanded:
        found = found.filter(insight_demand__isnull=False)
    if only:
        found = found.filter(pk=only)
    return found.order_by(
        F("insight_demand__request_count").desc(nulls_last=True),
        "insight_demand__first_requested_at",
        "-review_count",
        "pk",
    )


def forget(insights: QuerySet[Insight]) -> int:
    """Make these insights stale, and their input one that never was, so that they are written anew; how many."""
    with transaction.atomic():
        places = persistence.held(insights.order_by().values_list("pk", flat=True))
        # What a model has declined it is asked again.
        InsightCall.objects.filter(restaurant__in=places).exclude(input_hash="").update(input_hash="")
        return Insight.objects.filter(pk__in=places).update(provider_version="", input_hash="", failed_at=None)


def hide(insights: QuerySet[Insight], *, hidden: bool) -> int:
    """Take these insights off the service, or serve them again; how many."""
    with transaction.atomic():
        places = persistence.held(insights.order_by().values_list("pk", flat=True))
        return Insight.objects.filter(pk__in=places).update(hidden=hidden)


def forget_demand(*, now: datetime) -> int:
    """Remove what was asked for long ago and could not be written; how many. One statement."""
    return InsightDemand.objects.filter(last_requested_at__lt=now - DEMAND_KEPT).delete()[0]


def _keys(found: QuerySet[Restaurant]) -> Iterator[tuple[UUID, int]]:
    return iter(found[:MOST_DUE].values_list("pk", "review_count"))


def _ask(provider: RemoteProvider, *, now: datetime, demanded: bool, only: UUID | None) -> tuple[Step, int]:
    """Ask the model for one insight after another; why that ended, and how many were written or confirmed."""
    began = monotonic()
    done = 0
    cost_budget.end_lost(now=now)
    found = due(now=now, provider=provider, demanded=demanded, only=only)
    free = found.exclude(insight_calls__outcome=InsightCall.Outcome.PENDING)
    for pk in free.values_list("pk", flat=True)[:MOST_ASKED]:
        passed = monotonic() - began
        if passed > ASKING_S:
            break
        step = llm_job.write(pk, provider=provider, now=now + timedelta(seconds=passed))
        if step in (Step.SPENT, Step.AWAY, Step.BUSY):
            return step, done
        done += step is Step.DONE
    return Step.DONE, done


def _tell(step: Step, now: datetime) -> None:
    if step is Step.SPENT:
        _tell_spent(f"{now:%Y-%m-%d}")
    else:
        logger.warning("The model gave no answers, so it rests; insights are counted by our own program meanwhile.")


@lru_cache(maxsize=1)
def _tell_spent(day: str) -> None:
    """Say it once a day in each process."""
    logger.warning("The insight budget of %s does not suffice; insights are counted by our own program.", day)
