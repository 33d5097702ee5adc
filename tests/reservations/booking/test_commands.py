"""The rules of time, and the row that a booking becomes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from reservations.booking.commands import book
from reservations.booking.times import DateTooFarAhead, ReservationInPast
from reservations.booking.venue_time import NonexistentTime, default_turn_time, to_utc
from reservations.models import InvalidTransition, Reservation
from reservations.models.reservations import CODE_ALPHABET
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)


def booked(venue: Venue, day: date, at: time, *, now: datetime = NOON, **wanted: Any) -> Reservation:
    """A reservation by a guest."""
    guest: dict[str, Any] = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com", "party_size": 4}
    return book(venue, now=now, actor="system", day=day, at=at, **(guest | wanted))


# Time
@pytest.mark.parametrize(
    ("zone", "day", "at", "expected"),
    [
        ("Europe/Rome", date(2026, 11, 28), time(19, 30), datetime(2026, 11, 28, 18, 30, tzinfo=UTC)),
        ("Europe/Rome", date(2027, 7, 1), time(19, 30), datetime(2027, 7, 1, 17, 30, tzinfo=UTC)),
        ("Asia/Kathmandu", date(2026, 11, 28), time(19, 30), datetime(2026, 11, 28, 13, 45, tzinfo=UTC)),
        ("America/New_York", date(2026, 11, 28), time(23, 59), datetime(2026, 11, 29, 4, 59, tzinfo=UTC)),
        # The clocks show it twice; the first one is meant.
        ("Europe/Rome", date(2027, 10, 31), time(2, 30), datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        ("Europe/Rome", date(2027, 3, 28), time(3, 0), datetime(2027, 3, 28, 1, 0, tzinfo=UTC)),
        ("Europe/Rome", date(2027, 3, 28), time(1, 59), datetime(2027, 3, 28, 0, 59, tzinfo=UTC)),
    ],
)
def test_the_moment_of_a_venues_clock(zone: str, day: date, at: time, expected: datetime) -> None:
    assert to_utc(Venue(timezone=zone), day=day, at=at) == expected


@pytest.mark.parametrize(
    ("zone", "day", "at"),
    [
        ("Europe/Rome", date(2027, 3, 28), time(2, 0)),
        ("Europe/Rome", date(2027, 3, 28), time(2, 59)),
        ("Australia/Lord_Howe", date(2027, 10, 3), time(2, 15)),
        # Samoa crossed the date line and had no such day.
        ("Pacific/Apia", date(2011, 12, 30), time(12, 0)),
    ],
)
def test_a_time_that_the_clocks_skip_does_not_exist(zone: str, day: date, at: time) -> None:
    with pytest.raises(NonexistentTime) as refused:
        to_utc(Venue(timezone=zone), day=day, at=at)
    assert refused.value.param == "time"
    assert refused.value.message == f"On {day} the clocks in {zone} skip {at:%H:%M}."


@pytest.mark.parametrize(
    ("zone", "now", "day", "at", "param"),
    [
        ("Europe/Rome", NOON, date(2026, 11, 20), time(23, 59), "date"),
        ("Europe/Rome", NOON, date(1, 1, 1), time(0, 0), "date"),
        ("Europe/Rome", NOON, date(2026, 11, 21), time(13, 0), "time"),
        ("Europe/Rome", NOON, date(2026, 11, 21), time(0, 0), "time"),
        # On Kiritimati it is tomorrow already, and in Los Angeles still yesterday.
        ("Pacific/Kiritimati", NOON, date(2026, 11, 21), time(23, 0), "date"),
        ("America/Los_Angeles", datetime(2026, 11, 21, 7, 0, tzinfo=UTC), date(2026, 11, 20), time(23, 0), "time"),
    ],
)
@pytest.mark.django_db
def test_what_is_over_by_the_venues_clock_is_refused(
    zone: str, now: datetime, day: date, at: time, param: str
) -> None:
    with pytest.raises(ReservationInPast) as refused:
        booked(builders.venue(timezone=zone), day, at, now=now)
    assert refused.value.param == param
    assert not Reservation.objects.exists()


@pytest.mark.parametrize(
    ("zone", "now", "day", "at"),
    [
        ("Europe/Rome", NOON, date(2026, 11, 21), time(13, 1)),
        ("Pacific/Kiritimati", NOON, date(2026, 11, 22), time(2, 1)),
        ("America/Los_Angeles", datetime(2026, 11, 21, 7, 0, tzinfo=UTC), date(2026, 11, 20), time(23, 1)),
    ],
)
@pytest.mark.django_db
def test_a_minute_ahead_by_the_venues_clock_is_taken(zone: str, now: datetime, day: date, at: time) -> None:
    assert booked(builders.venue(timezone=zone), day, at, now=now).starts_at == now + timedelta(minutes=1)


def test_a_day_beyond_the_venues_plan_is_refused(venue: Venue) -> None:
    assert booked(venue, date(2027, 11, 21), time(19, 30)).date == date(2027, 11, 21)
    with pytest.raises(DateTooFarAhead) as refused:
        booked(venue, date(2027, 11, 22), time(19, 30))
    assert (refused.value.param, refused.value.message) == (
        "date",
        "Reservations are taken at most 365 days ahead.",
    )
    venue.max_days_ahead = 0
    assert booked(venue, date(2026, 11, 21), time(19, 30)).date == date(2026, 11, 21)
    with pytest.raises(DateTooFarAhead):
        booked(venue, date(2026, 11, 22), time(19, 30))


def test_the_last_day_of_the_calendar_is_only_too_far(venue: Venue) -> None:
    venue.max_days_ahead = 32767
    with pytest.raises(DateTooFarAhead):
        booked(venue, date(9999, 12, 31), time(23, 59))


@pytest.mark.parametrize(
    ("party_size", "minutes"), [(1, 90), (2, 90), (3, 105), (4, 105), (5, 120), (6, 120), (7, 150), (500, 150)]
)
def test_a_party_stays_as_long_as_its_size_says(party_size: int, minutes: int) -> None:
    assert default_turn_time(party_size) == timedelta(minutes=minutes)


def test_a_stay_is_measured_in_minutes_and_not_by_the_clock(venue: Venue) -> None:
    reservation = booked(venue, date(2027, 3, 28), time(1, 30), party_size=2)
    assert reservation.starts_at == datetime(2027, 3, 28, 0, 30, tzinfo=UTC)
    assert reservation.ends_at == datetime(2027, 3, 28, 2, 0, tzinfo=UTC)


# The row
def test_a_booking_is_one_insert(venue: Venue, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    # The venue's terms; the savepoint and its release, which are BEGIN and COMMIT outside of a test.
    with django_assert_num_queries(9):
        reservation = booked(venue, date(2026, 11, 28), time(19, 30))
    assert (reservation.status, reservation.pending_reason) == ("pending", "manual")
    assert (reservation.created_at, reservation.updated_at) == (NOON, NOON)
    assert len(reservation.code) == 6
    assert set(reservation.code) <= set(CODE_ALPHABET)


def test_a_code_that_the_venue_has_given_already_is_replaced(venue: Venue, other_venue: Venue) -> None:
    first = builders.reservation(venue, code="K7QX2M")
    second = builders.reservation(venue, code="K7QX2M")
    elsewhere = builders.reservation(other_venue, code="K7QX2M")
    assert (first.code, elsewhere.code) == ("K7QX2M", "K7QX2M")
    assert second.code != "K7QX2M"
    assert Reservation.objects.get(pk=second.pk).code == second.code


def test_a_code_is_replaced_for_no_other_reason(venue: Venue) -> None:
    with pytest.raises(IntegrityError, match="reservation_party_size_in_1_to_500"):
        builders.reservation(venue, party_size=501)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"party_size": 0}, "reservation_party_size_in_1_to_500"),
        ({"customer_email": None}, "reservation_has_contact"),
        ({"status": "confirmed"}, "reservation_pending_reason_if_pending"),
        ({"pending_reason": None}, "reservation_pending_reason_if_pending"),
        ({"status": "cancelled", "pending_reason": None}, "reservation_cancelled_at_if_cancelled"),
        ({"cancelled_at": NOON}, "reservation_cancelled_at_if_cancelled"),
        ({"ends_at": datetime(2031, 5, 3, 17, 30, tzinfo=UTC)}, "reservation_ends_after_it_starts"),
    ],
)
def test_the_database_holds_a_reservation_together(venue: Venue, changes: dict[str, Any], constraint: str) -> None:
    reservation = builders.reservation(venue)
    with pytest.raises(IntegrityError, match=constraint):
        Reservation.objects.filter(pk=reservation.pk).update(**changes)


# Moves
@pytest.mark.parametrize(
    ("status", "to", "allowed"),
    [
        ("pending", "pending", True),
        ("pending", "confirmed", True),
        ("pending", "cancelled", True),
        ("confirmed", "pending", False),
        ("confirmed", "confirmed", True),
        ("confirmed", "cancelled", True),
        ("cancelled", "pending", False),
        ("cancelled", "confirmed", False),
        ("cancelled", "cancelled", True),
    ],
)
def test_a_move(venue: Venue, status: str, to: str, allowed: bool) -> None:
    reservation = builders.reservation(venue, status=status)
    before = Reservation.objects.values().get(pk=reservation.pk)
    if allowed:
        reservation.move_to(to, now=LATER)
    else:
        with pytest.raises(InvalidTransition) as refused:
            reservation.move_to(to, now=LATER)
        assert refused.value.message == f"This reservation is {status} and cannot become {to}."
        assert (refused.value.code, refused.value.param) == ("invalid_transition", "status")
    moved = {
        "status": to,
        "pending_reason": None,
        "cancelled_at": LATER if to == "cancelled" else None,
        "updated_at": LATER,
        "version": before["version"] + 1,
    }
    expected = before | (moved if allowed and status != to else {})
    assert Reservation.objects.values().get(pk=reservation.pk) == expected
    assert (reservation.status, reservation.version) == (expected["status"], expected["version"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("rival", ["confirmed", "cancelled"])
@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_moves_each_is_counted_once_and_cancelled_is_final(rival: str) -> None:
    venue = builders.venue()
    start = Barrier(2)

    def move(job: tuple[Reservation, str]) -> bool:
        reservation, status = job
        try:
            start.wait(timeout=10)
            reservation.move_to(status, now=LATER)
        except InvalidTransition:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for _ in range(10):
            made = builders.reservation(venue)
            jobs = [(Reservation.objects.get(pk=made.pk), status) for status in (rival, "cancelled")]
            won = list(threads.map(move, jobs))
            stored = Reservation.objects.get(pk=made.pk)
            # Two alike are one move; to confirm may come before the cancellation, not after.
            moves = 1 if rival == "cancelled" else sum(won)
            assert (won[1], stored.status, stored.version) == (True, "cancelled", 1 + moves)


@pytest.mark.django_db(transaction=True)
def test_eight_threads_that_want_one_code_get_eight_codes() -> None:
    venue = builders.venue()

    def reserve(_: int) -> str:
        try:
            return builders.reservation(venue, code="K7QX2M").code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(reserve, range(8)))
    assert len({*codes}) == 8
    assert "K7QX2M" in codes
