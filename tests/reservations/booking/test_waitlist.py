"""The waiting list: who is offered what has become free, for how long, and what happens when two want one table."""

import json
from base64 import b64decode
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.conf import settings
from django.db import DataError, connection
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks
from redis import Redis

from accounts.models import Venue
from config.celery import app
from reservations import tasks
from reservations.booking import commands, waitlist
from reservations.mail import queue as mail_queue
from reservations.models import Closure, GuestMail, InvalidTransition, Reservation, Seating, ServicePeriod
from reservations.notifications import enqueue_guest_mail
from tests.reservations.waitlist_builders import (
    MINUTE,
    NOW,
    STARTS_AT,
    filled,
    held_for,
    list_events,
    mailed,
    refusal_of,
    waits,
)
from tests.support import builders


@pytest.fixture
def full(venue: Venue) -> Venue:
    """A venue with one table for four, which has dinner, and whose guests wait when it is full."""
    return filled(venue)


def test_a_table_is_held_for_the_first_of_the_list_for_half_an_hour(full: Venue) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    assert waitlist.offer_tables(full, now=NOW) == 1
    first.refresh_from_db()
    assert (first.status, first.pending_reason, first.tables) == ("pending", "waitlist", ["T1"])
    assert (first.offered_until, first.offer_count, first.version) == (NOW + 30 * MINUTE, 1, 2)
    assert (list_events(first), mailed(first)) == ([("reservation.updated", "system")], ["offered"])
    assert list(first.seatings.values_list("table__name", flat=True)) == ["T1"]
    assert (list_events(second), mailed(second), held_for(full)) == ([], [], ["AAAAAA"])
    # The table is held: a second look offers nothing.
    assert waitlist.offer_tables(full, now=NOW) == 0


def test_an_offer_ends_at_the_latest_when_the_party_would_come(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waitlist.offer_tables(full, now=STARTS_AT - 10 * MINUTE)
    reservation.refresh_from_db()
    assert reservation.offered_until == STARTS_AT


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "offered"),
    [
        ({}, 1),
        ({"offer_count": 2}, 1),
        ({"offer_count": 3}, 0),
        ({"customer_email": None, "customer_phone": "+15550100999"}, 0),
        ({"starts_at": NOW}, 0),
        ({"party_size": 5}, 0),
        ({"pending_reason": "manual"}, 0),
        ({"status": "cancelled", "pending_reason": None, "cancelled_at": NOW}, 0),
        ({"time": time(17, 59)}, 0),
        ({"date": date(2031, 5, 4)}, 0),
    ],
)
def test_offers_are_for_who_waits_reads_mail_and_fits(full: Venue, change: dict[str, Any], offered: int) -> None:
    Closure.objects.create(venue=full, first_date=date(2031, 5, 4), last_date=date(2031, 5, 4))
    reservation = waits(full, "AAAAAA")
    Reservation.objects.filter(pk=reservation.pk).update(**change)
    before = Reservation.objects.values().get(pk=reservation.pk)
    assert waitlist.offer_tables(full, now=NOW) == offered
    if not offered:
        assert Reservation.objects.values().get(pk=reservation.pk) == before
        assert not Seating.objects.exists()


def test_a_venue_that_mails_no_guests_leaves_the_list_to_its_staff(full: Venue) -> None:
    waits(full, "AAAAAA")
    full.mails_guests = False
    assert waitlist.offer_tables(full, now=NOW) == 0


def test_an_offer_keeps_to_the_pacing_of_its_slot(full: Venue) -> None:
    ServicePeriod.objects.update(pacing_covers=6)
    builders.table(full, "T2")
    waits(full, "AAAAAA")
    waits(full, "BBBBBB")
    waits(full, "CCCCCC", party_size=2)
    # Four and two make six; the four in between do not fit with the first.
    assert waitlist.offer_tables(full, now=NOW) == 2
    assert held_for(full) == ["AAAAAA", "CCCCCC"]


def test_a_party_that_does_not_fit_does_not_block_smaller_parties_and_other_times(full: Venue) -> None:
    waits(full, "AAAAAA", party_size=9)
    waits(full, "BBBBBB", party_size=2)
    waits(full, "CCCCCC", starts_at=STARTS_AT + timedelta(days=1))
    assert waitlist.offer_tables(full, now=NOW) == 2
    assert held_for(full) == ["BBBBBB", "CCCCCC"]


def test_who_accepts_in_time_has_the_table(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waitlist.offer_tables(full, now=NOW)
    waitlist.accept_offer(reservation, actor="guest", now=NOW + 29 * MINUTE)
    reservation.refresh_from_db()
    assert (reservation.status, reservation.pending_reason, reservation.offered_until) == ("confirmed", None, None)
    assert (reservation.tables, reservation.seatings.count()) == (["T1"], 1)
    assert list_events(reservation) == [("reservation.updated", "system"), ("reservation.confirmed", "guest")]
    assert mailed(reservation) == ["offered", "confirmed"]
    waitlist.accept_offer(reservation, actor="guest", now=NOW + 29 * MINUTE)
    assert len(list_events(reservation)) == 2


@pytest.mark.parametrize("verb", [waitlist.accept_offer, waitlist.decline_offer])
def test_who_answers_late_is_refused(full: Venue, verb: Callable[..., Any]) -> None:
    reservation = waits(full, "AAAAAA")
    lapsed = "This table is no longer held for you. You are still on the waiting list."
    assert refusal_of(verb, reservation, now=NOW) == lapsed
    waitlist.offer_tables(full, now=NOW)
    assert refusal_of(verb, reservation, now=NOW + 30 * MINUTE) == lapsed


def test_staff_offer_a_table_once_to_who_waits(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    other = waits(full, "BBBBBB")
    waitlist.offer_table(reservation, actor="staff:ada@example.com", now=NOW)
    assert list_events(reservation) == [("reservation.updated", "staff:ada@example.com")]
    assert refusal_of(waitlist.offer_table, reservation, now=NOW) == "This party already has an offer."
    assert refusal_of(waitlist.offer_table, other, now=NOW) == "No table is free for this party."
    assert refusal_of(waitlist.offer_table, other, now=STARTS_AT) == "This party is not on the waiting list."
    waitlist.accept_offer(reservation, actor="guest", now=NOW)
    assert refusal_of(waitlist.offer_table, reservation, now=NOW) == "This party is not on the waiting list."
    assert (
        refusal_of(waitlist.decline_offer, reservation, now=NOW) == "This reservation is confirmed; cancel it instead."
    )


def test_declining_leaves_the_list_and_the_next_party_gets_an_offer(
    full: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    waitlist.offer_tables(full, now=NOW)
    with django_capture_on_commit_callbacks() as enqueued:
        waitlist.decline_offer(first, actor="guest", now=NOW)
    assert len(enqueued) == 2  # for the mail, and for the list
    first.refresh_from_db()
    assert (first.status, first.tables, first.seatings.count()) == ("cancelled", [], 0)
    assert list_events(first)[1:] == [("reservation.cancelled", "guest")]
    assert mailed(first) == ["offered", "cancelled"]
    waitlist.process_waitlist(full, now=NOW)
    second.refresh_from_db()
    assert second.offered_until == NOW + 30 * MINUTE


@pytest.mark.exhaustive
def test_an_unanswered_offer_goes_to_the_next_party_and_is_repeated_twice(full: Venue) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    turns = []
    for number in range(8):
        waitlist.process_waitlist(full, now=NOW + number * 30 * MINUTE)
        mail_queue.send_due(now=NOW + number * 30 * MINUTE)
        turns += held_for(full)
    assert turns == ["AAAAAA", "BBBBBB"] * 3
    first.refresh_from_db()
    assert (first.offer_count, first.offered_until, first.tables, first.status) == (3, None, [], "pending")
    assert not Seating.objects.exists()
    assert mailed(second) == ["offered"] * 3


def test_expiry_releases_the_table_and_records_an_event(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    waitlist.offer_tables(full, now=NOW)
    assert waitlist.expire_offers(full, now=NOW + 30 * MINUTE - timedelta(seconds=1)) == 0
    assert waitlist.expire_offers(full, now=NOW + 30 * MINUTE) == 1
    reservation.refresh_from_db()
    assert (reservation.offered_until, reservation.tables, reservation.version) == (None, [], 3)
    assert list_events(reservation) == [("reservation.updated", "system")] * 2
    assert not Seating.objects.exists()


def test_a_cancellation_processes_the_waiting_list(
    full: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    guest = builders.reservation(full, status="confirmed")
    assert guest.tables == ["T1"]
    waits(full, "AAAAAA")
    assert waitlist.offer_tables(full, now=NOW) == 0
    with django_capture_on_commit_callbacks() as enqueued:
        commands.set_status(guest, "cancelled", now=NOW, actor="system")
    assert any("enqueue_table_offers" in repr(call) for call in enqueued)
    assert waitlist.offer_tables(full, now=NOW) == 1


def test_an_empty_waiting_list_costs_one_query(
    venue: Venue, other_venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.reservation(venue)
    past = waits(venue, "AAAAAA", starts_at=NOW - timedelta(days=1))
    with django_assert_num_queries(1):
        assert list(waitlist.venues_to_process(now=NOW)) == []
    waits(other_venue, "BBBBBB")
    waits(other_venue, "CCCCCC")
    assert list(waitlist.venues_to_process(now=NOW)) == [other_venue.pk]
    # An offer that is over is found also when its party would have come by now.
    Reservation.objects.filter(pk=past.pk).update(offered_until=NOW - timedelta(days=1))
    assert set(waitlist.venues_to_process(now=NOW)) == {venue.pk, other_venue.pk}


@pytest.mark.exhaustive
def test_a_long_list_of_equal_wishes_costs_one_look(
    full: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.reservation(full, status="confirmed")
    for number in range(20):
        waits(full, f"{number:06}")
    # The list; the periods and closures of the day; expired holds; and one try between its savepoints.
    with django_assert_num_queries(11):
        assert waitlist.offer_tables(full, now=NOW) == 0


def test_the_sweep_and_the_task_find_who_waits(full: Venue) -> None:
    reservation = waits(full, "AAAAAA", starts_at=datetime(2099, 5, 4, 17, 30, tzinfo=UTC))
    tasks.process_waiting_lists.run()
    tasks.offer_tables.run(venue=str(full.pk), unknown="argument")
    tasks.send_guest_mail.run()
    reservation.refresh_from_db()
    assert reservation.offer_count == 1
    assert [notice.state for notice in GuestMail.objects.filter(kind="offered")] == ["sent"]


def test_the_offer_task_is_queued_and_expires(full: Venue) -> None:
    waitlist.enqueue_table_offers(full.pk)
    enqueue_guest_mail()
    queue = Redis.from_url(settings.BROKER_URL).lrange(settings.CELERY_TASK_DEFAULT_QUEUE, 0, -1)
    enqueued = [json.loads(message) for message in queue]
    found = [
        (one["headers"]["task"], json.loads(b64decode(one["body"]))[1], one["headers"]["expires"] is not None)
        for one in enqueued
    ]
    assert ("reservations.tasks.offer_tables", {"venue": str(full.pk)}, True) in found
    assert ("reservations.tasks.send_guest_mail", {}, True) in found


def test_the_beat_schedule_names_existing_tasks() -> None:
    app.loader.import_default_modules()
    enqueued = {entry["task"] for entry in app.conf.beat_schedule.values()}
    ours = {"send_guest_mail", "process_waiting_lists", "queue_reminders"}
    assert {f"reservations.tasks.{name}" for name in ours} <= enqueued <= set(app.tasks)


def test_of_an_offer_that_breaks_off_nothing_is_left(full: Venue) -> None:
    reservation = waits(full, "AAAAAA")
    before = Reservation.objects.values().get(pk=reservation.pk)
    # The event is written when the table is taken and the row is stored; no actor has so long a name.
    with pytest.raises(DataError):
        waitlist.offer_table(reservation, actor="x" * 301, now=NOW)
    assert Reservation.objects.values().get(pk=reservation.pk) == before
    assert (Seating.objects.count(), list_events(reservation), mailed(reservation)) == (0, [], [])


def together(*works: Callable[[], Any]) -> list[Any]:
    """What each of these answers, begun at one moment in threads of their own; refusals are answers."""
    start = Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        start.wait(timeout=10)
        try:
            return work()
        except (waitlist.TableOfferExpired, waitlist.NotOnWaitlist, InvalidTransition) as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def copies(reservation: Reservation, number: int) -> Sequence[Reservation]:
    """The same row, read so often."""
    return [Reservation.objects.select_related("venue").get(pk=reservation.pk) for _ in range(number)]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_concurrent_acceptance_and_expiry_exactly_one_wins() -> None:
    venue = filled(builders.venue())
    for number in range(8):
        reservation = waits(venue, f"{number:06}", starts_at=STARTS_AT + timedelta(days=number))
        waitlist.offer_tables(venue, now=NOW)
        (row,) = copies(reservation, 1)
        answers = together(
            # Clocks differ: for the guest's server the offer still stands.
            lambda row=row: waitlist.accept_offer(row, actor="guest", now=NOW + 29 * MINUTE),  # type: ignore[misc]
            lambda: waitlist.expire_offers(venue, now=NOW + 30 * MINUTE),
        )
        reservation.refresh_from_db()
        if reservation.status == "confirmed":
            assert answers == [None, 0]
            assert (reservation.tables, reservation.seatings.count()) == (["T1"], 1)
        else:
            assert isinstance(answers[0], waitlist.TableOfferExpired)
            assert answers[1] == 1
            assert (reservation.status, reservation.tables, reservation.seatings.count()) == ("pending", [], 0)
            assert reservation.offered_until is None
        Reservation.objects.filter(pk=reservation.pk, status="pending").update(pending_reason="manual")


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_four_workers_at_once_hold_one_table_for_one_party_and_write_to_it_once() -> None:
    venue = filled(builders.venue())
    builders.table(venue, "T2")
    parties = [waits(venue, f"{number:06}") for number in range(6)]
    answers = together(*[lambda: waitlist.process_waitlist(venue, now=NOW)] * 4)
    assert sum(answers) == 2
    assert held_for(venue) == ["000000", "000001"]
    assert [mailed(party) for party in parties] == [["offered"]] * 2 + [[]] * 4
    assert sorted(Seating.objects.values_list("table__name", flat=True)) == ["T1", "T2"]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_accept_decline_lapse_and_cancel_at_once_leave_a_table_with_its_guest_or_free() -> None:
    venue = filled(builders.venue())
    for number in range(6):
        reservation = waits(venue, f"{number:06}", starts_at=STARTS_AT + timedelta(days=number))
        waitlist.offer_tables(venue, now=NOW)
        one, two, three = copies(reservation, 3)
        together(
            lambda one=one: waitlist.accept_offer(one, actor="guest", now=NOW),  # type: ignore[misc]
            lambda two=two: waitlist.decline_offer(two, actor="guest", now=NOW),  # type: ignore[misc]
            lambda three=three: commands.set_status(three, "cancelled", now=NOW, actor="guest"),  # type: ignore[misc]
            lambda: waitlist.expire_offers(venue, now=NOW + 30 * MINUTE),
        )
        reservation.refresh_from_db()
        assert (reservation.status, reservation.tables, reservation.seatings.count()) == ("cancelled", [], 0)
        cancelled = [kind for kind, _ in list_events(reservation) if kind == "reservation.cancelled"]
        assert len(cancelled) == 1
