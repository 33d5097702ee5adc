"""Deliveries: claimed by workers, tried by a schedule, and what came of each try.

Whoever claims or settles locks the endpoint first, then the delivery: in that order nobody waits in a circle. An order
that is placed meanwhile waits for neither.
"""

import enum
import random
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Coalesce

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.webhooks.http_client import LONGEST_WAIT, TIMEOUT_S, Outcome

State = WebhookDelivery.State
Reason = WebhookEndpoint.DisabledReason


class Pace(enum.Enum):
    """How fast an endpoint answers, as far as we know: a slow one was so in its last try, or is in this moment."""

    QUICK = "quick"
    SLOW = "slow"


# How long after a try the next one comes; the first comes at once.
SCHEDULE = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
MOST_TRIES = len(SCHEDULE) + 1
JITTER = 0.1
# A worker that has not settled its try by then is taken for dead. Looking up a name is part of the timeout.
LEASE = timedelta(seconds=4 * TIMEOUT_S)
# A try that takes longer than this may be to a receiver that hangs: the next one comes out of the slots for slow ones.
QUICK = timedelta(seconds=0.5)
# So many deliveries of one endpoint are under way at a time, in all workers together: a slow receiver holds no more.
MOST_AT_A_TIME = 4
MOST_AT_A_TIME_WHILE_FAILING = 1

SWITCHED_OFF = "the endpoint was disabled"
# So many rows one statement moves: 100,000 would take longer than statements may.
BATCH = 5_000

# A delivery that is under way has its next try at the end of its lease: what is due is one range of an index, and what
# is under way is another index. Clocks of workers may differ by what a lease is longer than a try. The endpoints with
# something to deliver are found by one step of the index for each. Endpoints that another worker looks at in this
# moment are left to it.
CHOOSE = """
    WITH RECURSIVE waiting AS (
        (SELECT endpoint_id FROM accounts_webhookdelivery WHERE state = 'pending' ORDER BY endpoint_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT later.endpoint_id FROM accounts_webhookdelivery AS later
            WHERE later.state = 'pending' AND later.endpoint_id > waiting.endpoint_id
            ORDER BY later.endpoint_id LIMIT 1
        )
        FROM waiting WHERE waiting.endpoint_id IS NOT NULL
    )
    SELECT endpoint.id
    FROM waiting
    JOIN accounts_webhookendpoint AS endpoint ON endpoint.id = waiting.endpoint_id
    CROSS JOIN LATERAL (
        SELECT first.next_try_at FROM accounts_webhookdelivery AS first
        WHERE first.endpoint_id = endpoint.id AND first.state = 'pending' AND first.next_try_at <= %(now)s
        ORDER BY first.next_try_at LIMIT 1
    ) AS due
    WHERE endpoint.disabled_at IS NULL AND {room} AND {pace}
    ORDER BY {order}
    LIMIT %(most)s
    FOR NO KEY UPDATE OF endpoint SKIP LOCKED
"""
ROOM = """(
        SELECT count(*) FROM accounts_webhookdelivery AS flying
        WHERE flying.endpoint_id = endpoint.id AND flying.state = 'pending' AND flying.leased_until > %(now)s
    ) < CASE WHEN endpoint.failing_since IS NULL THEN %(most_well)s ELSE %(most_failing)s END"""
SLOW = """(
        endpoint.is_slow OR EXISTS (
            SELECT FROM accounts_webhookdelivery AS flying
            WHERE flying.endpoint_id = endpoint.id AND flying.state = 'pending' AND flying.leased_until > %(now)s
            AND flying.last_try_at < %(quick)s
        )
    )"""
# The well before the failing, the longest due first. Among the slow lots are drawn: by age the one with the longest
# backlog would always be first.
PACES = {
    None: {"pace": "TRUE", "order": "endpoint.failing_since IS NOT NULL, due.next_try_at"},
    Pace.QUICK: {"pace": f"NOT {SLOW}", "order": "endpoint.failing_since IS NOT NULL, due.next_try_at"},
    Pace.SLOW: {"pace": SLOW, "order": "random()"},
}
# The room is looked at again under the lock: a worker may have taken it before.
CLAIM = """
    UPDATE accounts_webhookdelivery AS delivery
    SET tries = delivery.tries + 1, leased_until = %(until)s, next_try_at = %(until)s, last_try_at = %(now)s
    FROM accounts_webhookendpoint AS endpoint
    CROSS JOIN LATERAL (
        SELECT first.id FROM accounts_webhookdelivery AS first
        WHERE first.endpoint_id = endpoint.id AND first.state = 'pending' AND first.next_try_at <= %(now)s
        ORDER BY first.next_try_at LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE endpoint.id = ANY(%(endpoints)s) AND {room} AND delivery.id = due.id
    RETURNING delivery.id
"""


def claim(*, most: int, now: datetime, pace: Pace | None = None) -> list[WebhookDelivery]:
    """Take deliveries that are due, at most one of each endpoint, of those of one pace; with event and endpoint.

    Each is the caller's until its `leased_until`. Three statements, and a step of an index for each endpoint with
    something to deliver.
    """
    limits: dict[str, datetime | int] = {
        "now": now,
        "until": now + LEASE,
        "quick": now - QUICK,
        "most": most,
        "most_well": MOST_AT_A_TIME,
        "most_failing": MOST_AT_A_TIME_WHILE_FAILING,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CHOOSE.format(room=ROOM, **PACES[pace]), limits)
        endpoints = [row[0] for row in cursor.fetchall()]
        if not endpoints:
            return []
        cursor.execute(CLAIM.format(room=ROOM), {**limits, "endpoints": endpoints})
        claimed = [row[0] for row in cursor.fetchall()]
        rows = WebhookDelivery.objects.filter(pk__in=claimed).select_related("event", "endpoint")
        return list(rows.order_by("created_at", "pk"))


def is_anything_due(*, now: datetime) -> bool:
    """Whether a claim would find something."""
    with connection.cursor() as cursor:
        limits: dict[str, datetime | int] = {"now": now, "most": 1}
        limits |= {"most_well": MOST_AT_A_TIME, "most_failing": MOST_AT_A_TIME_WHILE_FAILING}
        cursor.execute(CHOOSE.format(room=ROOM, **PACES[None]), limits)
        return cursor.fetchone() is not None


def settle(delivery: WebhookDelivery, outcome: Outcome, *, now: datetime) -> bool:
    """Store what came of a claimed try. False where the lease was lost: then nothing is stored."""
    with transaction.atomic():
        endpoint = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=delivery.endpoint_id).first()
        mine = WebhookDelivery.objects.filter(
            pk=delivery.pk, state=State.PENDING, tries=delivery.tries, leased_until=delivery.leased_until
        )
        said = {"last_status": outcome.status, "last_answer": outcome.answer, "last_error": outcome.error}
        if outcome.arrived:
            moved = {"state": State.DELIVERED, "delivered_at": now, "next_try_at": None}
        elif outcome.gone or delivery.tries >= MOST_TRIES or endpoint is None or endpoint.disabled_at is not None:
            moved = {"state": State.FAILED, "next_try_at": None, "failed_at": now}
        else:
            moved = {"next_try_at": now + wait_after(delivery.tries, asked=outcome.wait)}
        if endpoint is None or not mine.update(leased_until=None, **moved, **said):
            return False
        if outcome.gone:
            switch_off(endpoint.pk, reason=Reason.GONE, now=now)
        if outcome.arrived == (endpoint.failing_since is not None) or outcome.is_slow != endpoint.is_slow:
            endpoint.failing_since = None if outcome.arrived else endpoint.failing_since or now
            endpoint.is_slow = outcome.is_slow
            endpoint.save(update_fields=["failing_since", "is_slow"])
    return True


def wait_after(tries: int, *, asked: timedelta | None = None) -> timedelta:
    """How long to wait after so many failed tries; no shorter than the receiver asked for, which is a day at most.

    Up to a tenth longer, so that what failed together does not come again together.
    """
    longer = 1 + random.uniform(0, JITTER)  # noqa: S311  # no secret hangs on it
    wait = SCHEDULE[min(tries, len(SCHEDULE)) - 1]
    return max(wait * longer, min((asked or timedelta()) * longer, LONGEST_WAIT))


def switch_off(endpoint: UUID, *, reason: Reason, now: datetime) -> bool:
    """Switch an endpoint off and give up what waits for it. False where it was off. Call it inside a transaction.

    Of a long backlog the rest is given up by the sweep.
    """
    rows = WebhookEndpoint.objects.filter(pk=endpoint, disabled_at__isnull=True)
    if not rows.update(disabled_at=now, disabled_reason=reason):
        return False
    _give_up(Q(endpoint=endpoint), why=SWITCHED_OFF, now=now)
    return True


def tidy(*, now: datetime) -> int:
    """Give up what nobody would try any more; return how many, of each kind a batch at most.

    What waits for an endpoint that is off, and what a worker died on in its last try.
    """
    return _give_up(Q(endpoint__disabled_at__isnull=False), why=SWITCHED_OFF, now=now) + _give_up(
        Q(tries__gte=MOST_TRIES, next_try_at__lte=now), why="our worker stopped in the middle of the last try", now=now
    )


def _give_up(which: Q, *, why: str, now: datetime) -> int:
    # What is under way ends by itself.
    free = Q(leased_until__isnull=True) | Q(leased_until__lte=now)
    rows = WebhookDelivery.objects.filter(which, free, state=State.PENDING).order_by()
    # Beside a sweep or a worker that holds some of them nobody waits.
    batch = rows.select_for_update(of=("self",), skip_locked=True).values("pk")[:BATCH]
    with transaction.atomic():
        return WebhookDelivery.objects.filter(pk__in=batch).update(
            state=State.FAILED, next_try_at=None, leased_until=None, failed_at=now, last_error=why
        )


def begin_again(endpoint: UUID, *, now: datetime, only: UUID | None = None, since: datetime | None = None) -> int:
    """Put deliveries of an endpoint back to the beginning of the schedule; return how many, a batch at most.

    One of them, unless it is under way, or those that failed since a moment. Call it while holding the
    lock of the endpoint.
    """
    rows = WebhookDelivery.objects.filter(endpoint=endpoint)
    if only is not None:
        rows = rows.filter(Q(leased_until__isnull=True) | Q(leased_until__lte=now), pk=only)
    else:
        # Those of before there was `failed_at`: about then.
        rows = rows.alias(failed=Coalesce("failed_at", "last_try_at", "created_at"))
        rows = rows.filter(state=State.FAILED, failed__gte=since)
    return WebhookDelivery.objects.filter(pk__in=rows.order_by("created_at").values("pk")[:BATCH]).update(
        state=State.PENDING,
        tries=0,
        next_try_at=now,
        leased_until=None,
        delivered_at=None,
        failed_at=None,
        last_error="",
    )


def recent(endpoint: UUID, *, most: int) -> list[WebhookDelivery]:
    """The newest deliveries of an endpoint, with their events."""
    rows = WebhookDelivery.objects.filter(endpoint=endpoint).select_related("event")
    return list(rows.order_by("-created_at", "-pk")[:most])
