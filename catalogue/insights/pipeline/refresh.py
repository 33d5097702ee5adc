"""The refresh of insights: which restaurants are due, which provider writes them, and what a request does."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from time import monotonic
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from catalogue.insights.pipeline import batch_job, cost_budget, llm_job, persistence
from catalogue.insights.pipeline.cost_budget import JobResult
from catalogue.insights.pipeline.staleness import MIN_REVIEWS, stale_condition
from catalogue.insights.providers.base import RemoteProvider
from catalogue.insights.providers.registry import FALLBACK, Provider, ProviderVersion, get_provider
from catalogue.models import Insight, InsightCall, InsightDemand, Restaurant
from framework.db.sql_files import read_sql

logger = logging.getLogger("catalogue.insights")

# Restaurants that are loaded at once.
MAX_DUE = 2_000
# Model calls of one refresh.
MAX_LLM_CALLS = 40
# No further call starts after this time: with the longest call that the settings allow (60 s) the task ends before its
# soft limit of 90 s.
LLM_PHASE_S = 20
# A restaurant on which the provider failed waits, so that it does not come first each time.
RETRY_AFTER = timedelta(days=1)
REQUEST_RETENTION = timedelta(days=30)
# More reviews would take more than a quarter of a second.
MAX_SYNC_REVIEWS = 300
# Requests for one restaurant within this time are recorded once.
REQUEST_INTERVAL = timedelta(minutes=1)

RECORD_REQUEST = read_sql("catalogue", "record_insight_request")


class OnDemandResult(StrEnum):
    """The insight was WRITTEN, QUEUED for a worker, or there was NOTHING to do."""

    WRITTEN = "written"
    QUEUED = "queued"
    NOTHING = "nothing"


def refresh(
    *,
    now: datetime,
    max_reviews: int,
    provider: Provider | None = None,
    requested_only: bool = False,
    only: UUID | None = None,
) -> int:
    """Write the insights that are missing or stale, requested ones first, and return how many.

    `requested_only`, or `only` for one restaurant, limits them. Stops after about `max_reviews` reviews, or after
    LLM_PHASE_S of model calls; 0 means that nothing is due or that other workers are busy with it. See
    batch_job.write_batches. The model is called outside of transactions; when the budget is spent or the model is
    down, the fallback writes what is due.
    """
    provider = provider or get_provider()
    if not isinstance(provider, RemoteProvider):
        rows = _keys(due_restaurants(now=now, provider=provider, requested_only=requested_only, only=only))
        return batch_job.write_batches(rows, now=now, max_reviews=max_reviews, provider=provider)
    started = monotonic()
    result, written = _call_model(provider, now=now, requested_only=requested_only, only=only)
    if result not in (JobResult.BUDGET_SPENT, JobResult.MODEL_DOWN):
        return written
    later = now + timedelta(seconds=monotonic() - started)
    if result is JobResult.BUDGET_SPENT:
        _warn_budget_spent(f"{later:%Y-%m-%d}")
    else:
        logger.warning("The model does not answer and rests; insights are counted by our own program.")
    due = due_restaurants(now=later, provider=provider, requested_only=requested_only, only=only, is_fallback=True)
    return written + batch_job.write_batches(
        _keys(due),
        now=later,
        max_reviews=max_reviews,
        provider=FALLBACK,
        also_accepted=[ProviderVersion.of(provider)],
        # The model writes these first when it is available again.
        keep_requests=True,
    )


def due_restaurants(
    *,
    now: datetime,
    provider: Provider | None = None,
    requested_only: bool = False,
    only: UUID | None = None,
    is_fallback: bool = False,
) -> QuerySet[Restaurant]:
    """Restaurants with enough reviews whose insight is missing, stale, or failed more than RETRY_AFTER ago.

    Input that the model declined is not due before it changes. Ordered by the number of requests, then by reviews.
    With `is_fallback`, the insights of `provider` and of the fallback both count as current. A quarter of a second
    over 356,000 restaurants.
    """
    provider = provider or get_provider()
    writer, also_accepted = (FALLBACK, provider) if is_fallback else (provider, None)
    is_retryable = Q(insight__failed_at__isnull=False)
    if isinstance(provider, RemoteProvider):
        declined = cost_budget.declined_calls(ProviderVersion.of(provider)).filter(restaurant=OuterRef("pk"))
        is_retryable &= Q(~Exists(declined.filter(input_hash=OuterRef("insight__input_hash"))))
    is_stale = stale_condition(writer, now=now, insight="insight__", also_accepted=also_accepted)
    due = Restaurant.objects.filter(
        Q(insight=None) | is_stale | is_retryable,
        ~Q(insight__failed_at__gt=now - RETRY_AFTER),
        review_count__gte=MIN_REVIEWS,
    )
    if requested_only:
        due = due.filter(insight_demand__isnull=False)
    if only:
        due = due.filter(pk=only)
    return due.order_by(
        F("insight_demand__request_count").desc(nulls_last=True),
        "insight_demand__first_requested_at",
        "-review_count",
        "pk",
    )


def write_or_queue(restaurant: Restaurant, *, now: datetime) -> OnDemandResult:
    """Write this insight if it is due and a local provider is fast enough; otherwise queue it.

    Never raises DatabaseError: the request is answered with or without an insight. One query if it is not due (also
    after a failure of today); one more, which writes at most once a minute, if it is queued.
    """
    provider = get_provider()
    try:
        if not due_restaurants(now=now, provider=provider).filter(pk=restaurant.pk).exists():
            return OnDemandResult.NOTHING
        is_large = restaurant.review_count > MAX_SYNC_REVIEWS
        fast = None if isinstance(provider, RemoteProvider) or is_large else provider
        if fast and batch_job.write_now(restaurant.pk, now=now, provider=fast):
            return OnDemandResult.WRITTEN
        return OnDemandResult.QUEUED if queue_request(restaurant.pk, now=now) else OnDemandResult.NOTHING
    except DatabaseError:
        logger.warning("The insight of %s can be neither written nor queued", restaurant.slug, exc_info=True)
        return OnDemandResult.NOTHING


def queue_request(restaurant: UUID, *, now: datetime) -> bool:
    """Record a request for this insight. Returns False if one was recorded within the minute. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(RECORD_REQUEST, {"restaurant": restaurant, "now": now, "since": now - REQUEST_INTERVAL})
        return bool(cursor.rowcount)


def invalidate(insights: QuerySet[Insight]) -> int:
    """Mark these insights as stale, so that they are written again, by the model too. Returns how many."""
    with transaction.atomic():
        restaurants = persistence.lock_restaurants(insights.order_by().values_list("pk", flat=True))
        # Without the hash a declined call no longer prevents a new one.
        InsightCall.objects.filter(restaurant__in=restaurants).exclude(input_hash="").update(input_hash="")
        return Insight.objects.filter(pk__in=restaurants).update(provider_version="", input_hash="", failed_at=None)


def set_hidden(insights: QuerySet[Insight], *, hidden: bool) -> int:
    """Hide these insights, or serve them again. Returns how many."""
    with transaction.atomic():
        restaurants = persistence.lock_restaurants(insights.order_by().values_list("pk", flat=True))
        return Insight.objects.filter(pk__in=restaurants).update(hidden=hidden)


def delete_old_requests(*, now: datetime) -> int:
    """Delete requests older than REQUEST_RETENTION whose insight could not be written. One statement."""
    return InsightDemand.objects.filter(last_requested_at__lt=now - REQUEST_RETENTION).delete()[0]


def _keys(restaurants: QuerySet[Restaurant]) -> Iterator[tuple[UUID, int]]:
    return iter(restaurants[:MAX_DUE].values_list("pk", "review_count"))


def _call_model(
    provider: RemoteProvider, *, now: datetime, requested_only: bool, only: UUID | None
) -> tuple[JobResult, int]:
    """Write one insight after another by the model. Returns why that ended, and how many were written or confirmed."""
    started = monotonic()
    written = 0
    cost_budget.close_abandoned_calls(now=now)
    due = due_restaurants(now=now, provider=provider, requested_only=requested_only, only=only)
    free = due.exclude(insight_calls__outcome=InsightCall.Outcome.PENDING)
    for pk in free.values_list("pk", flat=True)[:MAX_LLM_CALLS]:
        elapsed_s = monotonic() - started
        if elapsed_s > LLM_PHASE_S:
            break
        result = llm_job.write_insight(pk, provider=provider, now=now + timedelta(seconds=elapsed_s))
        if result in (JobResult.BUDGET_SPENT, JobResult.MODEL_DOWN, JobResult.BUSY):
            return result, written
        written += result is JobResult.DONE
    return JobResult.DONE, written


@lru_cache(maxsize=1)
def _warn_budget_spent(day: str) -> None:
    """Log it once a day in each process."""
    logger.warning("The insight budget of %s is spent; insights are counted by our own program.", day)
