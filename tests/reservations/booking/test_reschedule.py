"""Reservations of a venue with tables are confirmed, cancelled and changed by the rules by which they are taken."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Event, Venue
from reservations.booking import commands, table_assignment
from reservations.booking.availability import SlotUnavailable
from reservations.models import GuestMail, InvalidTransition, Reservation, Seating
from reservations.self_service import permissions
from reservations.service import check_in
from tests.reservations import consistency
from tests.reservations.consistency import state, unchanged
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)
SATURDAY = date(2026, 11, 28)
EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)
EventList = list[tuple[str, str]]


@pytest.fixture
def dinner(venue: Venue) -> Venue:
    """The venue with a table for two, one for four, and dinner every day from 18:00 to 22:00."""
    builders.table(venue, "T2", seats_max=2)
    builders.table(venue, "T4", seats_max=4)
    builders.period(venue)
    return venue


def book(venue: Venue, party_size: int = 4, *, at: str = "19:30") -> Reservation:
    """A reservation by a guest, on a Saturday."""
    return commands.book(
        venue,
        now=NOON,
        actor="guest",
        day=SATURDAY,
        at=time.fromisoformat(at),
        party_size=party_size,
        customer_name="Ada Lovelace",
        customer_email="ada@example.com",
    )


def list_events(since: int) -> EventList:
    """The events and their actors, after the first ones."""
    return list(Event.objects.order_by("id").values_list("type", "actor"))[since:]


# Moves
def test_what_waits_for_the_staff_is_seated_when_it_is_confirmed(dinner: Venue) -> None:
    dinner.auto_confirm_max_party = 1
    reservation = book(dinner, 2)
    commands.set_status(reservation, "confirmed", now=LATER, actor="staff:s@example.com")
    assert (reservation.status, reservation.tables, reservation.version) == ("confirmed", ["T2"], 2)
    assert list_events(1) == [("reservation.confirmed", "staff:s@example.com")]
    assert Event.objects.latest("id").record["tables"] == ["T2"]
    assert list(GuestMail.objects.order_by("created_at").values_list("kind", flat=True)) == ["requested", "confirmed"]
    assert consistency.problems() == []


def test_where_nothing_fits_the_staff_confirm_and_seat_by_hand(dinner: Venue) -> None:
    reservation = book(dinner, 9)
    commands.set_status(reservation, "confirmed", now=LATER, actor="system")
    assert (reservation.status, reservation.tables) == ("confirmed", [])
    assert not Seating.objects.exists()


def test_one_who_waits_for_a_table_is_confirmed_only_when_there_is_one(dinner: Venue) -> None:
    dinner.when_full = Venue.WhenFull.WAITLIST
    first, second = book(dinner), book(dinner)
    assert second.pending_reason == "waitlist"
    refused = unchanged(SlotUnavailable, lambda: commands.set_status(second, "confirmed", now=LATER, actor="system"))
    assert refused.message == (
        "There is no table for 4 at 19:30 on 2026-11-28. There is room at 21:15, 21:30, 21:45, 22:00."
    )
    commands.set_status(first, "cancelled", now=LATER, actor="system")
    commands.set_status(second, "confirmed", now=LATER, actor="system")
    assert (first.tables, second.tables) == ([], ["T4"])
    assert consistency.problems() == []


def test_a_venue_that_gave_up_its_tables_confirms_those_who_waited(dinner: Venue) -> None:
    dinner.when_full = Venue.WhenFull.WAITLIST
    book(dinner)
    waiting = book(dinner)
    dinner.tables.update(is_active=False)
    commands.set_status(waiting, "confirmed", now=LATER, actor="system")
    assert (waiting.status, waiting.tables) == ("confirmed", [])


def test_confirming_keeps_the_tables_that_staff_assigned(dinner: Venue) -> None:
    reservation = builders.reservation(dinner, starts_at=EVENING, party_size=2, tables=["T4"])
    commands.set_status(reservation, "confirmed", now=LATER, actor="system")
    assert reservation.tables == ["T4"]
    assert consistency.problems() == []


def test_who_cancels_frees_the_table(dinner: Venue) -> None:
    reservation = book(dinner)
    commands.set_status(reservation, "cancelled", now=LATER, actor="guest")
    assert (reservation.status, reservation.tables) == ("cancelled", [])
    assert list_events(2) == [("reservation.cancelled", "guest")]
    assert Event.objects.latest("id").record["tables"] == []
    assert book(dinner).tables == ["T4"]
    assert consistency.problems() == []


def test_a_guest_who_has_arrived_concurrently_does_not_cancel(dinner: Venue) -> None:
    stale = book(dinner)
    early = EVENING - timedelta(minutes=10)
    check_in.record_arrival(
        Reservation.objects.get(), Reservation.Arrival.ARRIVED, actor="staff:s@example.com", now=early
    )
    unchanged(permissions.TooLateToCancel, lambda: permissions.cancel(stale, now=early))
    assert Reservation.objects.get().status == "confirmed"


def test_tables_are_freed_before_the_status_and_so_the_tally_are_written(dinner: Venue) -> None:
    reservation = book(dinner)
    with CaptureQueriesContext(connection) as asked:
        commands.set_status(reservation, "cancelled", now=LATER, actor="guest")
    written = [query["sql"] for query in asked if query["sql"].startswith(("DELETE", "UPDATE"))]
    assert 'DELETE FROM "reservations_seating"' in written[0]
    assert ['"status" = ' in query.split("WHERE")[0] for query in written] == [False, False, True]


def test_setting_the_current_status_records_no_event(dinner: Venue) -> None:
    reservation = book(dinner)
    before = state()
    commands.set_status(reservation, "confirmed", now=LATER, actor="system")
    assert state() == before


def test_cancelled_is_final_and_takes_no_table(dinner: Venue) -> None:
    reservation = book(dinner)
    stale = Reservation.objects.get()
    commands.set_status(reservation, "cancelled", now=LATER, actor="system")
    unchanged(InvalidTransition, lambda: commands.set_status(stale, "confirmed", now=LATER, actor="system"))
    assert stale.status == "cancelled"


# The staff
def change(reservation: Reservation, **changes: Any) -> None:
    """What the staff do."""
    commands.update(reservation, now=LATER, actor="staff:s@example.com", **changes)


def test_the_staff_move_a_party_outside_of_the_hours_and_it_keeps_its_table(dinner: Venue) -> None:
    book(dinner, 2)
    reservation = book(dinner, 2)
    change(reservation, at=time(3, 7))
    assert (reservation.tables, reservation.starts_at) == (["T4"], datetime(2026, 11, 28, 2, 7, tzinfo=UTC))
    assert (reservation.ends_at, reservation.version) == (datetime(2026, 11, 28, 3, 37, tzinfo=UTC), 2)
    assert list_events(4) == [("reservation.updated", "staff:s@example.com")]
    assert GuestMail.objects.latest("created_at").kind == "changed"
    assert consistency.problems() == []


def test_a_party_whose_table_is_taken_at_the_new_time_gets_another(dinner: Venue) -> None:
    first = book(dinner, 2, at="18:00")
    other = book(dinner, 2, at="20:00")
    assert (first.tables, other.tables) == (["T2"], ["T2"])
    change(first, at=time(20, 15))
    assert first.tables == ["T4"]
    third = book(dinner, 4, at="18:00")
    refused = unchanged(SlotUnavailable, lambda: change(third, at=time(20, 0)))
    assert refused.param == "time"


def test_a_party_of_another_size_gets_the_table_that_fits(dinner: Venue) -> None:
    reservation = book(dinner, 2)
    change(reservation, party_size=3)
    assert reservation.tables == ["T4"]
    change(reservation, party_size=1)
    assert reservation.tables == ["T2"]
    assert consistency.problems() == []


def test_the_staff_name_the_tables_and_never_taken_ones(dinner: Venue) -> None:
    reservation, rival = book(dinner, 2), book(dinner, 2)
    assert (reservation.tables, rival.tables) == (["T2"], ["T4"])
    refused = unchanged(table_assignment.TableTaken, lambda: change(reservation, tables=["T2", "T4"]))
    assert (refused.code.value, refused.param, refused.message) == (
        "slot_unavailable",
        "tables",
        "Already booked at that time: T4.",
    )
    unknown = unchanged(table_assignment.UnknownTable, lambda: change(reservation, tables=["T9"]))
    assert unknown.message == "The venue has no table T9."
    change(rival, tables=[])
    change(reservation, tables=["T4", "T2"])
    assert (reservation.tables, rival.tables) == (["T2", "T4"], [])
    # What has no table stays without, until the staff say otherwise.
    change(rival, at=time(22, 0))
    assert rival.tables == []


def test_one_who_waits_and_is_given_a_table_waits_for_the_staff_only(dinner: Venue) -> None:
    dinner.when_full = Venue.WhenFull.WAITLIST
    book(dinner)
    waiting = book(dinner)
    change(waiting, tables=["T2"])
    assert (waiting.status, waiting.pending_reason, waiting.tables) == ("pending", "manual", ["T2"])


def test_the_staff_mend_what_a_guest_is_called_without_a_mail(dinner: Venue) -> None:
    reservation = book(dinner)
    change(
        reservation,
        guest={
            "customer_name": "Grace Hopper",
            "customer_email": None,
            "customer_phone": "+15550100999",
            "special_requests": "quiet",
        },
    )
    reservation.refresh_from_db()
    assert (reservation.customer_name, reservation.customer_email) == ("Grace Hopper", None)
    assert (reservation.customer_phone, reservation.special_requests) == ("+15550100999", "quiet")
    assert (reservation.tables, reservation.version) == (["T4"], 2)
    assert not GuestMail.objects.filter(kind="changed").exists()


def test_a_cancelled_reservation_is_not_changed(dinner: Venue) -> None:
    reservation = book(dinner)
    commands.set_status(reservation, "cancelled", now=LATER, actor="system")
    unchanged(InvalidTransition, lambda: change(reservation, at=time(20, 0)))


def test_without_tables_in_the_book_table_names_are_words_of_the_staff(venue: Venue) -> None:
    reservation = book(venue)
    change(reservation, tables=["by the window"])
    assert reservation.tables == ["by the window"]
    change(reservation, at=time(20, 0))
    assert (reservation.tables, Seating.objects.count()) == (["by the window"], 0)


def create_by_staff(venue: Venue, *, status: Any = "pending", **fields: Any) -> Reservation:
    """What the staff take on the phone."""
    reservation = Reservation(
        venue=venue,
        date=SATURDAY,
        time=time(19, 30),
        **({"customer_name": "Ada Lovelace", "customer_phone": "+15550100999", "party_size": 2} | fields),
    )
    commands.create_by_staff(reservation, status=status, now=NOON, actor="staff:s@example.com")
    return reservation


def test_what_the_staff_take_on_the_phone_gets_the_tables_that_they_name(dinner: Venue) -> None:
    assert create_by_staff(dinner, tables=["T4", "T2"]).tables == ["T2", "T4"]
    assert list_events(0) == [("reservation.created", "staff:s@example.com")]
    unchanged(table_assignment.TableTaken, lambda: create_by_staff(dinner, tables=["T4"]))
    unchanged(table_assignment.UnknownTable, lambda: create_by_staff(dinner, tables=["T9"]))
    assert consistency.problems() == []


def test_what_the_staff_confirm_on_the_phone_gets_the_best_table_or_none(dinner: Venue) -> None:
    found = [create_by_staff(dinner, status=Reservation.Status.CONFIRMED) for _ in range(3)]
    assert [reservation.tables for reservation in found] == [["T2"], ["T4"], []]
    assert [reservation.pending_reason for reservation in found] == [None] * 3
    assert [kind for kind, _ in list_events(0)] == ["reservation.created", "reservation.confirmed"] * 3
    assert found[0].ends_at == datetime(2026, 11, 28, 20, 0, tzinfo=UTC)
