"""The delivery queue: workers lease deliveries, record the outcome of each attempt, and retry by a schedule.

Lock order: the endpoint first, then the delivery, so that two workers cannot deadlock. Placing an order waits for
neither lock.
"""

import enum
import random
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from accounts.models import WebhookDelivery, WebhookEndpoint, on_clock_of
from accounts.webhooks import address_limit
from accounts.webhooks.http_client import MAX_RETRY_AFTER, TIMEOUT_S, Outcome
from framework.db.sql_files import read_sql

State = WebhookDelivery.State
Reason = WebhookEndpoint.DisabledReason


class Pace(enum.Enum):
    """The speed of an endpoint. It is slow if its last attempt was slow, or a current attempt takes long."""

    QUICK = "quick"
    SLOW = "slow"


# The delay after each attempt until the next one; the first attempt is immediate.
SCHEDULE = (
    *(timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30)),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
MAX_ATTEMPTS = len(SCHEDULE) + 1
JITTER = 0.1
# A worker that has not recorded an outcome by then has crashed. DNS resolution is part of the timeout.
LEASE = timedelta(seconds=4 * TIMEOUT_S)
# The receiver of an attempt that takes longer than this may hang: its next attempt uses the slots for slow endpoints.
SLOW_AFTER = timedelta(seconds=0.5)
# Concurrent attempts to one endpoint, in all workers together, so that a slow receiver holds no more.
IN_FLIGHT_LIMITS = {"max_in_flight": 4, "max_in_flight_failing": 1}

# Endpoints at a busy address continue within these seconds after its minute, in a random order.
POSTPONED_SPREAD_S = 10.0
MAX_POSTPONED = timedelta(seconds=address_limit.WINDOW_S + POSTPONED_SPREAD_S)

ENDPOINT_DISABLED = "the endpoint was disabled"
# Rows of one statement: 100,000 would exceed the statement timeout.
BATCH = 5_000

# For the clock of a sandbox: one after the other, in the order of their events.
SANDBOX_LIMITS = {"max_in_flight": 1, "max_in_flight_failing": 1}

LOCK_ENDPOINTS = read_sql("accounts", "lock_endpoints_with_due_deliveries")
LEASE_DELIVERIES = read_sql("accounts", "lease_due_deliveries").format(tie="")
# Not for all: a long backlog has one time, and would be sorted for each attempt.
LEASE_DELIVERIES_IN_ORDER = read_sql("accounts", "lease_due_deliveries").format(tie=", id")


def claim_due(
    *, limit: int, now: datetime, pace: Pace | None = None, venue: UUID | None = None
) -> list[WebhookDelivery]:
    """Lease due deliveries to endpoints of this pace, at most one per endpoint; return them with event and endpoint.

    Those of this venue, or of all without a clock of their own.

    The caller holds each until its `leased_until`. Three statements, and an index step for each endpoint with pending
    deliveries.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        endpoints = _lock_endpoints(cursor, limit=limit, now=now, is_slow=pace and pace is Pace.SLOW, venue=venue)
        if not endpoints:
            return []
        values: dict[str, Any] = {"now": now, "until": now + LEASE, "endpoints": endpoints}
        if venue is None:
            cursor.execute(LEASE_DELIVERIES, IN_FLIGHT_LIMITS | values)
        else:
            cursor.execute(LEASE_DELIVERIES_IN_ORDER, SANDBOX_LIMITS | values)
        claimed = [row[0] for row in cursor.fetchall()]
        rows = WebhookDelivery.objects.filter(pk__in=claimed).select_related("event", "endpoint")
        return list(rows.order_by("created_at", "pk"))


def has_due(*, now: datetime, venue: UUID | None = None) -> bool:
    """Whether claim_due would return a delivery."""
    with connection.cursor() as cursor:
        return bool(_lock_endpoints(cursor, limit=1, now=now, venue=venue))


def _lock_endpoints(
    cursor: CursorWrapper, *, limit: int, now: datetime, is_slow: bool | None = None, venue: UUID | None = None
) -> list[UUID]:
    values: dict[str, Any] = {"now": now, "slow_since": now - SLOW_AFTER, "limit": limit, "is_slow": is_slow}
    values |= {"postponed_at_most": now + 2 * MAX_POSTPONED, "venue": venue}
    cursor.execute(LOCK_ENDPOINTS, (IN_FLIGHT_LIMITS if venue is None else SANDBOX_LIMITS) | values)
    return [row[0] for row in cursor.fetchall()]


def record_outcome(delivery: WebhookDelivery, outcome: Outcome, *, now: datetime, is_random: bool = True) -> bool:
    """Store the outcome of a leased attempt; return False, and store nothing, if the lease was lost.

    Without `is_random` the next attempt is at exactly the time of the schedule.
    """
    with transaction.atomic():
        endpoint = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=delivery.endpoint_id).first()
        leased = WebhookDelivery.objects.filter(
            pk=delivery.pk, state=State.PENDING, attempts=delivery.attempts, leased_until=delivery.leased_until
        )
        if outcome.postponed_for is not None:
            spread_s = random.uniform(0, POSTPONED_SPREAD_S) if is_random else 0  # noqa: S311  # not a secret
            until = now + outcome.postponed_for + timedelta(seconds=spread_s)
            WebhookEndpoint.objects.filter(pk=delivery.endpoint_id).update(postponed_until=until)
            # As if it had not been leased. The first attempt of a delivery that has none left is not the last.
            return bool(leased.update(leased_until=None, next_attempt_at=now, attempts=F("attempts") - 1))
        response = {"last_status": outcome.status, "last_response": outcome.answer, "last_error": outcome.error}
        if outcome.is_delivered:
            change = {"state": State.DELIVERED, "delivered_at": now, "next_attempt_at": None}
        elif (
            outcome.is_gone
            or delivery.attempts >= MAX_ATTEMPTS
            or endpoint is None
            or endpoint.disabled_at is not None
        ):
            change = {"state": State.FAILED, "next_attempt_at": None, "failed_at": now}
        else:
            delay = get_retry_delay(delivery.attempts, retry_after=outcome.retry_after, is_random=is_random)
            change = {"next_attempt_at": now + delay}
        if endpoint is None or not leased.update(leased_until=None, **change, **response):
            return False
        if outcome.is_gone:
            disable_endpoint(endpoint.pk, reason=Reason.GONE, now=now)
        is_failing = endpoint.failing_since is not None
        if outcome.is_delivered == is_failing or outcome.is_slow != endpoint.is_slow:
            endpoint.failing_since = None if outcome.is_delivered else endpoint.failing_since or now
            endpoint.is_slow = outcome.is_slow
            endpoint.save(update_fields=["failing_since", "is_slow"])
    return True


def get_retry_delay(attempts: int, *, retry_after: timedelta | None = None, is_random: bool = True) -> timedelta:
    """Return the delay after so many failed attempts; at least the receiver's Retry-After, which is capped at a day.

    Adds up to a tenth, so that deliveries which failed together are not retried together.
    """
    factor = 1 + (random.uniform(0, JITTER) if is_random else 0)  # noqa: S311  # not a secret
    delay = SCHEDULE[min(attempts, len(SCHEDULE)) - 1]
    return max(delay * factor, min((retry_after or timedelta()) * factor, MAX_RETRY_AFTER))


def disable_endpoint(endpoint: UUID, *, reason: Reason, now: datetime) -> bool:
    """Disable an endpoint and fail a batch of its pending deliveries; False if it was disabled already.

    Call it inside a transaction. `fail_abandoned` fails the rest of a long backlog.
    """
    rows = WebhookEndpoint.objects.filter(pk=endpoint, disabled_at__isnull=True)
    if not rows.update(disabled_at=now, disabled_reason=reason):
        return False
    _fail(Q(endpoint=endpoint), error=ENDPOINT_DISABLED, now=now)
    return True


def fail_abandoned(*, now: datetime, venue: UUID | None = None) -> int:
    """Fail the deliveries of disabled endpoints, and those whose worker crashed in the last attempt; return how many.

    A batch of each kind at most, of this venue or of all without a clock of their own.
    """
    is_asked = on_clock_of(venue, path="endpoint__venue")
    return _fail(is_asked & Q(endpoint__disabled_at__isnull=False), error=ENDPOINT_DISABLED, now=now) + _fail(
        is_asked & Q(attempts__gte=MAX_ATTEMPTS, next_attempt_at__lte=now),
        error="the worker stopped during the last attempt",
        now=now,
    )


def requeue_ahead(*, now: datetime) -> int:
    """Make deliveries due that were leased, or whose next attempt was set, while the clock was ahead; return how many.

    A batch at most. Not those of venues with a clock of their own.
    """
    is_asked = on_clock_of(None, path="endpoint__venue")
    is_too_late = Q(leased_until__gt=now + 2 * LEASE) | Q(next_attempt_at__gt=now + 2 * SCHEDULE[-1])
    rows = WebhookDelivery.objects.filter(is_asked, is_too_late, state=State.PENDING).order_by()
    batch = rows.select_for_update(of=("self",), skip_locked=True).values("pk")[:BATCH]
    with transaction.atomic():
        return WebhookDelivery.objects.filter(pk__in=batch).update(next_attempt_at=now, leased_until=None)


def _fail(condition: Q, *, error: str, now: datetime) -> int:
    rows = WebhookDelivery.objects.filter(condition, _is_not_leased(now), state=State.PENDING).order_by()
    # Skips rows that a sweep or a worker has locked.
    batch = rows.select_for_update(of=("self",), skip_locked=True).values("pk")[:BATCH]
    with transaction.atomic():
        return WebhookDelivery.objects.filter(pk__in=batch).update(
            state=State.FAILED, next_attempt_at=None, leased_until=None, failed_at=now, last_error=error
        )


def _is_not_leased(now: datetime) -> Q:
    return Q(leased_until__isnull=True) | Q(leased_until__lte=now)


def requeue(
    endpoint: UUID,
    *,
    now: datetime,
    only: UUID | None = None,
    since: datetime | None = None,
    types: Collection[str] | None = None,
) -> int:
    """Restart the retry schedule of deliveries of an endpoint; return how many, a batch at most.

    Either of one delivery, unless it is leased, or of those that failed since a time, of events of these `types`, None
    for all: the earliest failed first. Requires the lock on the endpoint.
    """
    rows = WebhookDelivery.objects.filter(endpoint=endpoint)
    if types is not None:
        rows = rows.filter(event__type__in=types)
    if only is not None:
        rows = rows.filter(_is_not_leased(now), pk=only)
    else:
        # The expression and the order are those of the index delivery_failed_of_endpoint.
        rows = rows.alias(failed=Coalesce("failed_at", "last_attempt_at", "created_at"))
        rows = rows.filter(state=State.FAILED, failed__gte=since).order_by("failed")
    return WebhookDelivery.objects.filter(pk__in=rows.values("pk")[:BATCH]).update(
        state=State.PENDING,
        attempts=0,
        next_attempt_at=now,
        leased_until=None,
        delivered_at=None,
        failed_at=None,
        last_error="",
    )
