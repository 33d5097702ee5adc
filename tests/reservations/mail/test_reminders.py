"""Reminders: a day before, once, and only where they tell something."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from accounts.models import Venue
from reservations import tasks
from reservations.mail import queue
from reservations.models import GuestMail, Reservation
from tests.support import builders

STARTS_AT = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
DAY = timedelta(hours=24)
SECOND = timedelta(seconds=1)
DUE = STARTS_AT - DAY


def reminded(reservation: Reservation) -> list[GuestMail]:
    """Its reminders."""
    return list(reservation.guest_mails.filter(kind="reminder"))


def booked(venue: Venue, **changes: Any) -> Reservation:
    """A confirmed reservation, booked long before and told of then, but for these changes of the row."""
    reservation = builders.reservation(venue, status="confirmed")
    if changes:
        Reservation.objects.filter(pk=reservation.pk).update(**changes)
    return reservation


@pytest.mark.parametrize(
    ("now", "written"),
    [(DUE - SECOND, 0), (DUE, 1), (STARTS_AT - SECOND, 1), (STARTS_AT, 0), (STARTS_AT + DAY, 0)],
)
def test_guests_are_reminded_within_a_day_before_they_come(venue: Venue, now: datetime, written: int) -> None:
    reservation = booked(venue)
    assert queue.queue_reminders(now=now) == written
    assert [(row.state, row.next_attempt_at, row.created_at, row.attempts) for row in reminded(reservation)] == (
        [("pending", now, now, 0)] * written
    )


def test_once_is_enough(venue: Venue) -> None:
    reservation = booked(venue)
    assert [queue.queue_reminders(now=DUE + number * SECOND) for number in range(3)] == [1, 0, 0]
    # Also for a party that has moved to another day since; it has mail about that.
    Reservation.objects.filter(pk=reservation.pk).update(starts_at=STARTS_AT + 7 * DAY, ends_at=STARTS_AT + 8 * DAY)
    assert queue.queue_reminders(now=DUE + 7 * DAY) == 0


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({"status": "pending", "pending_reason": "manual"}, 0),
        ({"status": "cancelled", "cancelled_at": DUE}, 0),
        ({"arrival": "arrived"}, 0),
        ({"customer_email": None, "customer_phone": "+15550100999"}, 0),
        # Booked less than a day ahead: they know.
        ({"created_at": DUE + SECOND}, 0),
        ({"created_at": DUE}, 1),
    ],
)
def test_whom_a_reminder_tells_nothing_gets_none(venue: Venue, changes: dict[str, Any], written: int) -> None:
    booked(venue, **changes)
    assert queue.queue_reminders(now=DUE + 2 * SECOND) == written


def test_who_has_had_mail_on_the_last_day_needs_no_reminder(venue: Venue) -> None:
    reservation = booked(venue)
    at = DUE + timedelta(hours=2)
    GuestMail.objects.create(reservation=reservation, kind="changed", next_attempt_at=at, created_at=at)
    assert queue.queue_reminders(now=at) == 0


def test_a_venue_that_mails_no_guests_reminds_none(venue: Venue) -> None:
    booked(venue)
    Venue.objects.filter(pk=venue.pk).update(mails_guests=False)
    assert queue.queue_reminders(now=DUE) == 0


@pytest.mark.exhaustive
def test_reminders_of_all_venues_are_one_statement_and_one_task(
    venue: Venue,
    other_venue: Venue,
    django_assert_num_queries: DjangoAssertNumQueries,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    for its in (venue, other_venue):
        for _ in range(10):
            booked(its)
    # Between a savepoint and its release: the test is in a transaction.
    with django_capture_on_commit_callbacks() as enqueued, django_assert_num_queries(3):
        assert queue.queue_reminders(now=DUE) == 20
    assert len(enqueued) == 1
    with django_capture_on_commit_callbacks() as enqueued:
        assert queue.queue_reminders(now=DUE) == 0
    assert enqueued == []


def test_a_reminder_is_sent(venue: Venue) -> None:
    reservation = booked(venue)
    reservation.guest_mails.all().delete()
    tasks.queue_reminders.run()
    assert reminded(reservation) == []
    queue.queue_reminders(now=DUE)
    queue.send_due(now=DUE)
    assert [sent.subject for sent in mail.outbox] == ["Reminder: your table at Trattoria"]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_six_beats_at_once_remind_each_guest_once() -> None:
    venue = builders.venue()
    made = [booked(venue) for _ in range(15)]
    start = Barrier(6)

    def remind(_: int) -> int:
        start.wait(timeout=10)
        try:
            return queue.queue_reminders(now=DUE)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(remind, range(6))) == 15
    assert [len(reminded(reservation)) for reservation in made] == [1] * 15
