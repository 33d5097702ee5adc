"""What staff see of the guests, and what becomes of their tables."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import Event, Venue
from reservations.booking import waitlist
from reservations.models import Reservation
from reservations.service import check_in
from tests.support import builders

STARTS_AT = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
# Half an hour after their time; they would stay until 19:15.
NOW = STARTS_AT + timedelta(minutes=30)
EARLIEST = STARTS_AT - timedelta(hours=12)
ARRIVED, SEATED, FINISHED, NO_SHOW = Reservation.Arrival.values
STATES = (None, ARRIVED, SEATED, FINISHED, NO_SHOW)
LEGAL = {
    (None, ARRIVED),
    (None, SEATED),
    (None, NO_SHOW),
    (ARRIVED, SEATED),
    (SEATED, FINISHED),
    (NO_SHOW, ARRIVED),
}
ACTOR = "staff:ada@example.com"


def mark(reservation: Reservation, arrival: str, *, now: datetime = NOW) -> bool:
    """What the verb answers to the staff."""
    return check_in.record_arrival(reservation, Reservation.Arrival(arrival), actor=ACTOR, now=now)


def row(reservation: Reservation) -> dict[str, Any]:
    """The whole row."""
    return dict(Reservation.objects.values().get(pk=reservation.pk))


def list_events(reservation: Reservation) -> list[tuple[str, str]]:
    """The events of a reservation since its time."""
    events = Event.objects.filter(subject=reservation.pk, created_at__gte=STARTS_AT).order_by("created_at", "id")
    return list(events.values_list("type", "actor"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("to", Reservation.Arrival.values)
@pytest.mark.parametrize("state", STATES)
def test_guests_are_seen_in_one_order(venue: Venue, state: str | None, to: str) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    Reservation.objects.filter(pk=reservation.pk).update(arrival=state)
    before = row(reservation)
    if state == to:
        assert mark(reservation, to) is False
    elif (state, to) in LEGAL:
        assert mark(reservation, to) is True
        assert row(reservation) == before | {"arrival": to, "version": before["version"] + 1, "updated_at": NOW}
        assert list_events(reservation) == [("reservation.updated", ACTOR)]
        assert (reservation.arrival, reservation.version) == (to, before["version"] + 1)
        return
    else:
        with pytest.raises(check_in.InvalidArrival) as refused:
            mark(reservation, to)
        assert (refused.value.code, refused.value.param) == ("invalid_transition", "arrival")
        assert refused.value.message == (
            f"This party is {state} and cannot become {to}.".replace("no_show", "no-show")
            if state
            else f"This party has not arrived yet, so it cannot be {to}."
        )
    assert (row(reservation), list_events(reservation)) == (before, [])


@pytest.mark.sample(3)
@pytest.mark.parametrize("status", ["pending", "cancelled"])
@pytest.mark.parametrize("to", Reservation.Arrival.values)
def test_only_confirmed_guests_are_awaited(venue: Venue, status: str, to: str) -> None:
    reservation = builders.reservation(venue, status=status)
    before = row(reservation)
    with pytest.raises(
        check_in.InvalidArrival,
        match=f"This reservation is {status}. Arrivals are recorded for confirmed reservations only",
    ):
        mark(reservation, to)
    assert (row(reservation), list_events(reservation)) == (before, [])


def test_no_show_before_the_reservation_time_is_refused(venue: Venue) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    with pytest.raises(check_in.InvalidArrival, match="The reservation time has not been reached yet"):
        mark(reservation, NO_SHOW, now=STARTS_AT - timedelta(seconds=1))
    assert mark(reservation, NO_SHOW, now=STARTS_AT) is True


@pytest.mark.parametrize(("state", "to"), [(None, ARRIVED), (None, SEATED), (SEATED, FINISHED), (NO_SHOW, ARRIVED)])
def test_arrival_days_before_the_reservation_is_refused(venue: Venue, state: str | None, to: str) -> None:
    reservation = builders.reservation(venue, status="confirmed")
    Reservation.objects.filter(pk=reservation.pk).update(arrival=state)
    before = row(reservation)
    with pytest.raises(check_in.InvalidArrival) as refused:
        mark(reservation, to, now=EARLIEST - timedelta(seconds=1))
    assert refused.value.message == "Arrivals can be recorded from 12 hours before the reservation time."
    assert row(reservation) == before
    assert mark(reservation, to, now=EARLIEST) is True


@pytest.mark.parametrize("how", [[SEATED, FINISHED], [NO_SHOW]])
def test_who_has_left_or_did_not_come_leaves_the_table_to_others_for_the_rest_of_the_time(
    venue: Venue, how: list[str], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, status="confirmed")
    assert (reservation.tables, reservation.seatings.get().during.upper) == (["T1"], reservation.ends_at)
    with django_capture_on_commit_callbacks() as enqueued:
        for arrival in how:
            mark(reservation, arrival)
    assert any("enqueue_table_offers" in repr(call) for call in enqueued)
    seating = reservation.seatings.get()
    assert (seating.during.lower, seating.during.upper) == (STARTS_AT, NOW)
    # The next party sits down where they sat, or would have sat.
    assert builders.reservation(venue, status="confirmed", starts_at=NOW).tables == ["T1"]


def test_who_arrives_or_sits_keeps_the_table(
    venue: Venue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, status="confirmed")
    with django_capture_on_commit_callbacks() as enqueued:
        mark(reservation, ARRIVED)
        mark(reservation, SEATED)
    assert enqueued == []
    assert reservation.seatings.get().during.upper == reservation.ends_at


def test_a_no_show_that_comes_late_has_arrived_and_gets_no_table_by_that(venue: Venue) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, status="confirmed")
    mark(reservation, NO_SHOW)
    assert builders.reservation(venue, status="confirmed", starts_at=NOW).tables == ["T1"]
    assert mark(reservation, ARRIVED) is True
    # What is left of the time for which it was held is nobody's; the page asks for a table.
    assert (reservation.tables, reservation.seatings.count()) == ([], 0)
    assert row(reservation)["tables"] == []


def test_a_no_show_that_was_marked_hours_after_its_time_keeps_what_it_had(venue: Venue) -> None:
    builders.table(venue)
    reservation = builders.reservation(venue, status="confirmed")
    tomorrow = NOW + timedelta(days=1)
    mark(reservation, NO_SHOW, now=tomorrow)
    mark(reservation, ARRIVED, now=tomorrow)
    assert (reservation.tables, reservation.seatings.get().during.upper) == (["T1"], reservation.ends_at)


@pytest.mark.exhaustive
def test_a_table_that_no_show_leaves_is_offered_to_who_waits(venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue)
    gone = builders.reservation(venue, status="confirmed")
    waits = builders.reservation(venue, starts_at=STARTS_AT + timedelta(minutes=60))
    Reservation.objects.filter(pk=waits.pk).update(pending_reason="waitlist")
    assert waitlist.offer_tables(venue, now=NOW) == 0
    mark(gone, NO_SHOW)
    assert waitlist.offer_tables(venue, now=NOW) == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_marks_at_once_each_counts_once_and_in_its_order() -> None:
    venue = builders.venue()
    start = Barrier(2)

    def see(job: tuple[Reservation, str]) -> bool:
        start.wait(timeout=10)
        try:
            return mark(*job)
        except check_in.InvalidArrival:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for pair in ((SEATED, SEATED), (NO_SHOW, ARRIVED), (SEATED, NO_SHOW), (FINISHED, NO_SHOW)) * 2:
            made = builders.reservation(venue, status="confirmed")
            jobs = [(Reservation.objects.select_related("venue").get(pk=made.pk), arrival) for arrival in pair]
            won = sum(threads.map(see, jobs))
            stored = Reservation.objects.get(pk=made.pk)
            assert stored.version == made.version + won
            assert len(list_events(made)) == won
            # Who did not come may come after all; nothing else is followed by its rival.
            assert won == (2 if pair == (NO_SHOW, ARRIVED) and stored.arrival == ARRIVED and won == 2 else 1)
