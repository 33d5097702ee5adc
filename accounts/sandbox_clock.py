"""The clock of a sandbox: a test advances it, and what depends on time happens as if the time had passed.

Each app registers the kinds of work that its workers do by the time (`Work`). An advance asks for the next moment at
which one of them is due, sets the clock to it, and calls the same functions as the workers for this venue and that
moment, until it has reached its end. So everything happens in the order of time, and the same each time. Afterwards
the clock goes on by itself, and a periodic task does what becomes due.

One process at a time works for a clock: it holds a lease. A process that dies leaves the clock at the step that it was
in, and whoever comes next, after the lease, does that step again; all functions may run again.

A call that advances a clock takes a thread of the web server for seconds. So nobody waits for a lease, and a process
advances one clock at a time.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.models import SandboxClock, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import auto_disable, delivery_queue, dispatcher, event_retention
from framework.api.pagination.schema import format_datetime
from framework.errors import ApiError, ErrorCode, InvalidRequest, NotFound
from framework.resilience.deadline import Deadline

MAX_ADVANCE = timedelta(days=400)
# Of one call or task. What is left is done by the next. With a last step it is less than the proxy waits for an answer
# (deploy/haproxy.cfg).
MAX_RUN_S = 8.0
# A step takes less. A process that has not begun the next one by then has died.
LEASE = timedelta(seconds=30)
# A receiver of webhooks that answers later has failed, so that it cannot hold an advance up.
WEBHOOK_TIMEOUT_S = 3.0
# Of the webhooks of a moment; as long as there are more they are another step. It takes this and the timeout at most.
WEBHOOK_CLAIM_S = 1.0
# A row may be committed so long after its time.
COMMIT_LAG = timedelta(minutes=1)


class NoSandboxClock(NotFound):
    """The venue is no sandbox."""

    def __init__(self) -> None:
        super().__init__(
            "Only a sandbox has a clock that can be advanced. Use a key of a sandbox: it begins with `rk_test_`."
        )


class ClockAdvancing(ApiError):
    """Another call is advancing the clock, or this process another one, or this call has not come to its end in its
    time.
    """

    code = ErrorCode.CLOCK_ADVANCING

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"Retry-After": "1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A kind of work that workers do by the time.

    `due` is SQL that selects the next moment after `{after}` at which there is something to do for `{venue}`, or null.
    It may be an earlier one where due rows stay until they are done, as a row may be committed long after its time.
    `run` does what is due at a moment. If it returns True it has stopped early, and the step is done again. Work that
    `follows` may be caused by other work of the same step, so it runs in each step.
    """

    due: str
    run: Callable[[Venue, datetime], object]
    follows: bool = False


def nightly(moment: str) -> str:
    """Return SQL for the first nightly run after this moment, at 01:53 UTC (config/beat_schedule.toml)."""
    return f"date_trunc('day', {moment} - interval '1:53', 'UTC') + interval '1 day 1:53'"


def deliver_webhooks(venue: Venue, now: datetime) -> bool:
    """Deliver what is due at this moment, for WEBHOOK_CLAIM_S; return whether there is more."""
    delivery_queue.fail_abandoned(now=now, venue=venue.pk)
    return dispatcher.run(clock=lambda: now, venue=venue.pk, claim_s=WEBHOOK_CLAIM_S, timeout_s=WEBHOOK_TIMEOUT_S)


# Of the apps above, in the order of a step. They register theirs when they are ready.
WORK: list[Work] = []
# After those: webhooks tell what the others have done.
OWN_WORK = (
    Work(
        due="""
            SELECT min(greatest(delivery.next_attempt_at, endpoint.postponed_until))
            FROM accounts_webhookendpoint AS endpoint
            JOIN accounts_webhookdelivery AS delivery ON delivery.endpoint_id = endpoint.id
            WHERE endpoint.venue_id = {venue} AND endpoint.disabled_at IS NULL AND delivery.state = 'pending'""",
        run=deliver_webhooks,
        follows=True,
    ),
    Work(
        due=f"""
            SELECT min(failing_since + interval '{auto_disable.FAILURE_PERIOD.days} days')
            FROM accounts_webhookendpoint
            WHERE venue_id = {{venue}} AND disabled_at IS NULL
                AND failing_since + interval '{auto_disable.FAILURE_PERIOD.days} days' > {{after}}""",  # noqa: S608
        run=lambda venue, now: auto_disable.disable_failing_endpoints(now=now, venue=venue.pk),
    ),
    Work(
        due=f"""
            SELECT min({nightly("created_at + make_interval(days => %(event_days)s)")})
            FROM accounts_event
            WHERE venue_id = {{venue}} AND %(event_days)s > 0
                AND {nightly("created_at + make_interval(days => %(event_days)s)")} > {{after}}""",  # noqa: S608
        run=lambda venue, now: event_retention.purge_events(now=now, venue=venue.pk),
    ),
)

# Held by the call of this process that advances a clock.
_is_advancing = threading.Lock()
ADVANCED_BY_ANOTHER = "Another call is advancing this clock. Send the request again in a second."

NOT_FOLLOWED = "This sandbox has a clock of its own, which offers and deposits do not follow."

# What keeps a venue from having a clock of its own, as a message; None for nothing. Of the apps above.
GUARDS: list[Callable[[Venue], str | None]] = []


def advance(venue: Venue, *, to: datetime) -> None:
    """Advance the clock of a sandbox to this moment, and do all that is due until then, in the order of time.

    Raises NoSandboxClock; InvalidRequest if the moment has passed and all until then is done, or it is further ahead
    than MAX_ADVANCE; ClockAdvancing if another call advances this clock, or this process another one, or after
    MAX_RUN_S: then the clock stands in between, and the same call goes on. Call it outside of transactions. Some ten
    queries for each moment at which something is due, and the requests of webhooks.
    """
    if not venue.is_sandbox:
        raise NoSandboxClock
    now = venue.now()
    if to <= now and not SandboxClock.objects.filter(venue=venue, ran_until__lt=to).exists():
        raise InvalidRequest(f"The clock shows {format_datetime(now)}, and goes only forwards.", param="to")
    if to > now + MAX_ADVANCE:
        raise InvalidRequest(f"Advance it by at most {MAX_ADVANCE.days} days in one call.", param="to")
    if to > timezone.now() + SandboxClock.MAX_OFFSET:
        raise InvalidRequest(f"It can be {SandboxClock.MAX_OFFSET.days} days ahead at most.", param="to")
    if not SandboxClock.objects.filter(venue=venue).exists():
        _create_clock(venue, now=now)
    if not _is_advancing.acquire(blocking=False):
        raise ClockAdvancing("Our server is advancing another clock. Send the request again in a second.")
    try:
        lease = Lease.take(venue)
        if lease is None:
            raise ClockAdvancing(ADVANCED_BY_ANOTHER)
        with lease:
            lease.run_until(to, deadline=Deadline.after(MAX_RUN_S))
    finally:
        _is_advancing.release()


@transaction.atomic
def has_clock(venue: Venue) -> bool:
    """Return whether a sandbox has a clock of its own; until the transaction ends it stays so."""
    Venue.objects.select_for_update(no_key=True).get(pk=venue.pk)
    return SandboxClock.objects.filter(venue=venue).exists()


@transaction.atomic
def _create_clock(venue: Venue, *, now: datetime) -> None:
    """Give a sandbox a clock of its own, unless a guard refuses it: then InvalidRequest."""
    if has_clock(venue):
        return
    # Under the lock of the venue: whoever makes what a guard looks for calls has_clock before.
    for refuse in GUARDS:
        if message := refuse(venue):
            raise InvalidRequest(message)
    # What waits since before is done by this clock, too.
    SandboxClock.objects.create(venue=venue, ran_until=now - timedelta(microseconds=1))


def run_due(venue: Venue) -> bool:
    """Do what is due by the venue's clock, unless another process is at it; return whether it has one of its own."""
    if not SandboxClock.objects.filter(venue=venue).exists():
        return False
    if lease := Lease.take(venue):
        with lease:
            lease.run_until(venue.now(), deadline=Deadline.after(MAX_RUN_S))
    return True


def has_due_webhooks() -> bool:
    """Return whether any sandbox with a clock of its own has webhooks to send. One query."""
    due = WebhookDelivery.objects.filter(
        endpoint__in=WebhookEndpoint.objects.filter(venue__sandbox_clock__isnull=False, disabled_at=None),
        state=WebhookDelivery.State.PENDING,
        next_attempt_at__lte=timezone.now() + F("endpoint__venue__sandbox_clock__offset"),
    )
    return due.exists()


def find_with_due_work() -> Sequence[Venue]:
    """Return the venues with a clock of their own and work that is due by it, those first that nobody has worked for
    the longest. Two queries.
    """
    due = _build_due(venue="clock.venue_id", after="clock.ran_until - %(lag)s")
    statement = f"""
        SELECT clock.venue_id FROM accounts_sandboxclock AS clock
        CROSS JOIN LATERAL (SELECT min(due) AS due FROM ({due}) AS work) AS next
        WHERE next.due <= %(now)s + clock."offset"
        ORDER BY clock.leased_until NULLS FIRST, clock.venue_id"""  # noqa: S608  # of constants
    with connection.cursor() as cursor:
        cursor.execute(statement, _values() | {"lag": COMMIT_LAG, "now": timezone.now()})
        keys = [row[0] for row in cursor.fetchall()]
    venues = Venue.objects.in_bulk(keys)
    return [venues[key] for key in keys if key in venues]


def _list_work() -> Sequence[Work]:
    return (*WORK, *OWN_WORK)


def _build_due(*, venue: str, after: str) -> str:
    return " UNION ALL ".join(
        f"SELECT {index} AS index, ({work.due.format(venue=venue, after=after)}) AS due"
        for index, work in enumerate(_list_work())
    )


def _values() -> dict[str, Any]:
    return {"event_days": settings.EVENT_RETENTION_DAYS, "guest_days": settings.GUEST_RETENTION_DAYS}


def _find_due(venue: UUID, *, after: datetime) -> dict[int, datetime]:
    """Return the next moment of each kind of work that is due after this one. One query."""
    statement = f"SELECT * FROM ({_build_due(venue='%(venue)s', after='%(after)s')}) AS work WHERE due IS NOT NULL"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, _values() | {"venue": venue, "after": after})
        return dict(cursor.fetchall())


class Lease:
    """The right to work for a clock, as a context manager that gives it back. Its end is the fencing token."""

    def __init__(self, venue: Venue, *, ends_at: datetime, ran_until: datetime) -> None:
        self.venue = venue
        self.ends_at = ends_at
        self.ran_until = ran_until

    @classmethod
    def take(cls, venue: Venue) -> "Lease | None":
        """Take the lease if it is free. Two queries, one if it is not."""
        now = timezone.now()
        # One that ends later than any was taken while the server's clock was ahead.
        is_free = Q(leased_until=None) | Q(leased_until__lte=now) | Q(leased_until__gt=now + LEASE)
        if not SandboxClock.objects.filter(is_free, venue=venue).update(leased_until=now + LEASE):
            return None
        ran_until = SandboxClock.objects.values_list("ran_until", flat=True).get(venue=venue)
        return cls(venue, ends_at=now + LEASE, ran_until=ran_until)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        # It ends now. Whose lease ended first is next (find_with_due_work).
        self._rows().update(leased_until=timezone.now(), ran_until=self.ran_until)

    def run_until(self, to: datetime, *, deadline: Deadline) -> None:
        """Go from one moment at which something is due to the next, by way of the present.

        Raises ClockAdvancing after the step in which the deadline passes.
        """
        started_at = self.venue.now()
        while self.ran_until < to:
            due = _find_due(self.venue.pk, after=self.ran_until)
            moment = min([to, *(at for at in due.values() if at > self.ran_until)])
            if self.ran_until < started_at < moment:
                moment = started_at
            works = [
                work
                for index, work in enumerate(_list_work())
                if work.follows or moment in (started_at, to) or due.get(index, to) <= moment
            ]
            has_more = True
            while has_more:
                self._set_clock(moment)
                # In a list, because any() would leave out the work after the first that has more.
                has_more = any([work.run(self.venue, moment) is True for work in works])  # noqa: C419
                if not has_more:
                    # After the work: a process that dies before does the step again.
                    self.ran_until = moment
                if self.ran_until < to and deadline.remaining_s == 0:
                    at = format_datetime(moment)
                    raise ClockAdvancing(f"The clock has come to {at}. Send the request again: it goes on from there.")

    def _set_clock(self, moment: datetime) -> None:
        """Set the clock to the moment unless it is later, and renew the lease."""
        now = timezone.now()
        offset = Greatest(F("offset"), moment - now)
        if not self._rows().update(offset=offset, ran_until=self.ran_until, leased_until=now + LEASE):
            raise ClockAdvancing(ADVANCED_BY_ANOTHER)
        self.ends_at = now + LEASE

    def _rows(self) -> QuerySet[SandboxClock]:
        return SandboxClock.objects.filter(venue=self.venue, leased_until=self.ends_at)
