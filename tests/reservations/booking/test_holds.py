"""A hold keeps a table for some minutes, and ends to the second."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from accounts.models import Venue
from framework.errors import InvalidRequest, NotFound
from reservations.booking import commands, holds, waitlist
from reservations.booking.availability import DayAvailability, SlotUnavailable
from reservations.booking.holds import HoldEnded, TooManyHolds
from reservations.booking.table_assignment import TableTaken
from reservations.booking.times import ReservationInPast
from reservations.models import Area, Hold, Reservation, Seating
from tests.reservations import consistency
from tests.support import builders

SATURDAY = date(2026, 11, 28)
NOON = datetime(2026, 11, 28, 11, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def osteria(venue: Venue) -> Venue:
    """A venue in Rome with one table for four, open for dinner."""
    builders.table(venue, "T1")
    builders.period(venue)
    return venue


def hold(venue: Venue, **changes: Any) -> Hold:
    values: dict[str, Any] = {
        "owner": "me",
        "day": SATURDAY,
        "at": time(19, 30),
        "party_size": 4,
        "now": NOON,
    } | changes
    return holds.create(venue, **values)


def book(venue: Venue, **changes: Any) -> Reservation:
    values: dict[str, Any] = {
        "customer_name": "Ada",
        "customer_email": "ada@example.com",
        "day": SATURDAY,
        "at": time(19, 30),
        "party_size": 4,
        "actor": "key:test",
        "now": NOON,
    }
    return commands.book(venue, **(values | changes))


def has_room(venue: Venue, *, now: datetime, party_size: int = 4) -> bool:
    day = DayAvailability.load(venue, SATURDAY, now=now)
    slot = day.hours.find(time(19, 30))
    assert slot
    return day.has_room(slot, party_size)


# What a hold is
def test_a_held_table_is_booked_for_everybody_else_until_the_second_it_expires(osteria: Venue) -> None:
    held = hold(osteria, minutes=5)
    assert (held.tables, held.expires_at) == (["T1"], NOON + 5 * MINUTE)
    assert (held.starts_at, held.ends_at) == (
        datetime(2026, 11, 28, 18, 30, tzinfo=UTC),
        datetime(2026, 11, 28, 20, 15, tzinfo=UTC),
    )
    last_moment = NOON + 5 * MINUTE - SECOND
    assert not has_room(osteria, now=last_moment)
    with pytest.raises(SlotUnavailable):
        book(osteria, now=last_moment)
    with pytest.raises(SlotUnavailable):
        hold(osteria, owner="another", now=last_moment)
    assert has_room(osteria, now=NOON + 5 * MINUTE)
    assert book(osteria, now=NOON + 5 * MINUTE).tables == ["T1"]
    assert not Hold.objects.exists()


def test_staff_cannot_take_a_held_table_until_it_expires(osteria: Venue) -> None:
    hold(osteria, minutes=5)
    party = Reservation(
        venue=osteria, date=SATURDAY, time=time(20, 0), party_size=2, customer_name="B", customer_phone="+391"
    )
    for now in (NOON, NOON + 5 * MINUTE - SECOND):
        party.tables = ["T1"]
        with pytest.raises(TableTaken):
            commands.create_by_staff(party, now=now, actor="staff:a@example.com")
    commands.create_by_staff(party, now=NOON + 5 * MINUTE, actor="staff:a@example.com")
    assert party.tables == ["T1"]


def test_a_table_is_held_for_at_most_the_time_until_the_party_comes(osteria: Venue) -> None:
    now = datetime(2026, 11, 28, 18, 24, tzinfo=UTC)
    assert hold(osteria, minutes=15, now=now).expires_at == datetime(2026, 11, 28, 18, 30, tzinfo=UTC)


def test_held_guests_count_for_the_pacing_of_their_time(osteria: Venue) -> None:
    builders.table(osteria, "T2")
    osteria.service_periods.update(pacing_covers=6)
    hold(osteria)
    with pytest.raises(SlotUnavailable):
        book(osteria)
    assert not has_room(osteria, now=NOON)
    assert has_room(osteria, now=NOON, party_size=2)
    assert book(osteria, party_size=2).tables == ["T2"]


def test_a_hold_is_for_a_future_slot_with_room(osteria: Venue) -> None:
    with pytest.raises(ReservationInPast):
        hold(osteria, day=SATURDAY - timedelta(days=1))
    with pytest.raises(ReservationInPast):
        hold(osteria, now=datetime(2026, 11, 28, 18, 30, tzinfo=UTC))
    book(osteria)
    with pytest.raises(SlotUnavailable) as refused:
        hold(osteria)
    assert refused.value.extra == {"alternatives": ["21:15", "21:30", "21:45", "22:00"]}
    assert not Hold.objects.exists()


@pytest.mark.parametrize("party_size", [9, 20])
def test_parties_whose_tables_the_staff_assign_cannot_be_held(osteria: Venue, party_size: int) -> None:
    builders.table(osteria, "T9", seats_max=20)
    with pytest.raises(SlotUnavailable) as refused:
        hold(osteria, party_size=party_size)
    assert refused.value.param == "party_size"


def test_a_venue_without_tables_holds_none(venue: Venue) -> None:
    with pytest.raises(SlotUnavailable) as refused:
        hold(venue)
    assert refused.value.message == (
        "The staff of this restaurant assign the tables of such parties. Send a reservation without a hold."
    )


@pytest.mark.exhaustive
def test_an_owner_holds_at_most_twenty_tables_at_a_time(osteria: Venue) -> None:
    for number in range(2, 23):
        builders.table(osteria, f"T{number}")
    held = [hold(osteria) for _ in range(20)]
    with pytest.raises(TooManyHolds) as refused:
        hold(osteria)
    assert refused.value.message == "You hold 20 tables here, the maximum. Reserve or release one first."
    assert hold(osteria, owner="another").tables
    holds.release(held[0])
    assert hold(osteria).tables
    assert hold(osteria, now=NOON + 10 * MINUTE).tables
    assert consistency.problems() == []


# From a hold to a reservation
def test_a_hold_becomes_a_reservation_at_its_tables(osteria: Venue) -> None:
    builders.table(osteria, "T0", seats_max=8)
    held = hold(osteria)
    booked = book(osteria, hold_id=held.public_id, now=NOON + MINUTE)
    assert (booked.status, booked.tables, booked.starts_at, booked.ends_at) == (
        "confirmed",
        ["T1"],
        held.starts_at,
        held.ends_at,
    )
    assert not Hold.objects.exists()
    assert Seating.objects.get().reservation == booked
    assert consistency.problems() == []


def test_a_hold_is_used_once(osteria: Venue) -> None:
    builders.table(osteria, "T2")
    held = hold(osteria)
    book(osteria, hold_id=held.public_id)
    with pytest.raises(HoldEnded) as refused:
        book(osteria, hold_id=held.public_id)
    assert (refused.value.message, refused.value.param) == ("There is no such hold, or it has ended.", "hold_id")
    assert Reservation.objects.count() == 1


def test_an_expired_hold_books_nothing_even_if_its_table_is_free(osteria: Venue) -> None:
    held = hold(osteria, minutes=1)
    with pytest.raises(HoldEnded):
        book(osteria, hold_id=held.public_id, now=NOON + MINUTE)
    assert not Reservation.objects.exists()
    assert book(osteria, hold_id=held.public_id, now=NOON + MINUTE - SECOND).tables == ["T1"]


@pytest.mark.parametrize("change", [{"party_size": 3}, {"at": time(19, 45)}, {"day": SATURDAY + timedelta(days=1)}])
def test_a_hold_books_what_it_holds_and_nothing_else(osteria: Venue, change: dict[str, Any]) -> None:
    held = hold(osteria)
    with pytest.raises(InvalidRequest) as refused:
        book(osteria, hold_id=held.public_id, **change)
    assert refused.value.message == ("The hold is for 4 on 2026-11-28 at 19:30: send its date, time and party size.")
    assert Hold.objects.get() == held


@pytest.mark.parametrize("hold_id", ["hold_00000000000000000000000000", "res_1", "", "\N{SNOWMAN}"])
def test_a_hold_that_never_was_is_refused_as_ended(osteria: Venue, hold_id: str) -> None:
    with pytest.raises(HoldEnded):
        book(osteria, hold_id=hold_id)


def test_a_hold_is_of_its_venue(osteria: Venue, other_venue: Venue) -> None:
    builders.table(other_venue)
    builders.period(other_venue)
    held = hold(osteria)
    with pytest.raises(HoldEnded):
        book(other_venue, hold_id=held.public_id)
    assert book(osteria, hold_id=held.public_id).tables == ["T1"]


def test_the_service_hours_may_change_while_a_table_is_held(osteria: Venue) -> None:
    held = hold(osteria)
    osteria.service_periods.all().delete()
    assert book(osteria, hold_id=held.public_id).status == "confirmed"


# Its end
def test_a_released_hold_ends_once_and_its_table_is_free(osteria: Venue) -> None:
    held = hold(osteria)
    holds.release(held)
    with pytest.raises(NotFound):
        holds.release(held)
    assert not Seating.objects.exists()
    assert hold(osteria, owner="another").tables == ["T1"]


def test_expired_holds_are_deleted_with_their_seatings(osteria: Venue) -> None:
    builders.table(osteria, "T2")
    hold(osteria, minutes=1)
    second = hold(osteria, minutes=2)
    assert holds.delete_expired(now=NOON + MINUTE) == 1
    assert list(Hold.objects.all()) == [second]
    assert Seating.objects.get().hold == second
    assert holds.delete_expired(now=NOON + MINUTE) == 0


def test_a_hold_made_while_the_clock_was_ahead_ends_a_quarter_of_an_hour_after_it_is_right(osteria: Venue) -> None:
    ahead = NOON + timedelta(hours=2)
    hold(osteria, now=ahead)
    holds.delete_expired(now=NOON)
    assert Hold.objects.get().expires_at == NOON + 15 * MINUTE


def test_a_waiting_party_gets_the_table_of_an_expired_hold_before_others(osteria: Venue) -> None:
    Venue.objects.filter(pk=osteria.pk).update(when_full="waitlist", mails_guests=True)
    osteria.refresh_from_db()
    hold(osteria, minutes=1)
    waiting = book(osteria)
    assert (waiting.status, waiting.pending_reason) == ("pending", "waitlist")
    later = NOON + MINUTE
    other = book(osteria, customer_email="bob@example.com", now=later)
    assert other.pending_reason == "waitlist"
    waiting.refresh_from_db()
    assert waiting.tables == ["T1"]
    assert waitlist.has_offer(waiting, now=later)


# Areas
def test_a_hold_in_an_area_gets_a_table_of_that_area(osteria: Venue) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    builders.table(osteria, "T2", seats_max=8, area=terrace)
    assert hold(osteria, area=terrace).tables == ["T2"]
    with pytest.raises(SlotUnavailable) as refused:
        hold(osteria, area=terrace)
    assert refused.value.message.startswith(
        "There is no table for 4 at 19:30 on 2026-11-28 in the area Terrace. There is room at "
    )
    assert hold(osteria).tables == ["T1"]


def test_a_reservation_in_an_area_gets_a_table_of_that_area_or_none(osteria: Venue) -> None:
    terrace = Area.objects.create(venue=osteria, name="Terrace")
    table = builders.table(osteria, "T2", area=terrace)
    assert book(osteria, area=terrace).tables == ["T2"]
    with pytest.raises(SlotUnavailable):
        book(osteria, area=terrace)
    # Combinations count if all of their tables are in the area.
    builders.combination(osteria, table, builders.table(osteria, "T3"), seats_min=5, seats_max=8)
    with pytest.raises(SlotUnavailable):
        book(osteria, area=terrace, party_size=5, day=SATURDAY + timedelta(days=1))
    assert book(osteria, party_size=5, day=SATURDAY + timedelta(days=1)).tables == ["T2", "T3"]


# Constraints
@pytest.mark.parametrize("kind", ["neither", "both"])
def test_a_seating_is_of_a_reservation_or_of_a_hold(osteria: Venue, kind: str) -> None:
    hold(osteria)
    values = {"hold": None} if kind == "neither" else {"reservation": builders.reservation(osteria)}
    with pytest.raises(IntegrityError, match="seating_of_reservation_or_hold"):
        Seating.objects.update(**values)
