"""The server's clock jumps while tables are held: for a party of the waiting list, or until a guest follows a link.

No jump sells a table twice, brings back a hold that has ended, or blocks a table for longer than it may be held.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from reservations import tasks
from reservations.booking import commands, email_confirmation, waitlist
from reservations.booking.availability import SlotUnavailable
from reservations.models import InvalidTransition, Reservation, Seating
from reservations.self_service import links
from tests.reservations.waitlist_builders import MINUTE, NOW, STARTS_AT, filled, held_for, waits
from tests.support import builders

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The server's clock, which stands at NOW."""
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


@pytest.fixture
def full(venue: Venue) -> Venue:
    """A venue with one table for four, which has dinner, and whose guests wait when it is full."""
    return filled(venue)


def now() -> datetime:
    return datetime.now(UTC)


def run_beat(venue: Venue) -> None:
    """What the periodic tasks do about held tables in a minute."""
    tasks.cancel_unconfirmed_bookings.run()
    tasks.process_waiting_lists.run()
    tasks.offer_tables.run(venue=str(venue.pk))
    tasks.send_guest_mail.run()


def click(reservation: Reservation, step: str) -> int:
    """The status of the answer to a guest who clicks this on the page of the mailed link."""
    return int(Client().post(f"/guest/{links.token_of(reservation)}/{step}").status_code)


def book(venue: Venue) -> Reservation:
    """A booking for the only table, which the guest has to confirm by mail."""
    return commands.book(
        venue,
        now=now(),
        actor="guest",
        customer_name="Ada Lovelace",
        customer_email="ada@example.com",
        day=STARTS_AT.date(),
        at=time(19, 30),
        party_size=4,
        confirm_by=now() + email_confirmation.CONFIRMATION_PERIOD,
    )


def state(reservation: Reservation) -> tuple[str, list[str]]:
    reservation.refresh_from_db()
    return reservation.status, reservation.tables


def test_an_offer_that_a_jump_forward_has_ended_stays_ended_when_the_clock_jumps_back(
    full: Venue, clock: time_machine.Traveller
) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    run_beat(full)
    assert held_for(full) == ["AAAAAA"]
    clock.move_to(NOW + HOUR)
    run_beat(full)
    assert held_for(full) == ["BBBBBB"]
    clock.move_to(NOW + MINUTE)
    assert click(first, "accept") == 409
    assert click(second, "accept") == 302
    run_beat(full)
    assert (state(first), state(second)) == (("pending", []), ("confirmed", ["T1"]))
    assert Seating.objects.count() == 1


@pytest.mark.exhaustive
def test_an_offer_made_while_the_clock_was_ahead_ends_half_an_hour_after_the_clock_is_right(
    full: Venue, clock: time_machine.Traveller
) -> None:
    first, second = waits(full, "AAAAAA"), waits(full, "BBBBBB")
    clock.move_to(NOW + 24 * HOUR)
    run_beat(full)
    assert held_for(full) == ["AAAAAA"]
    clock.move_to(NOW)
    run_beat(full)
    clock.move_to(NOW + 29 * MINUTE)
    run_beat(full)
    assert held_for(full) == ["AAAAAA"]
    clock.move_to(NOW + 30 * MINUTE)
    assert click(first, "accept") == 409
    run_beat(full)
    assert held_for(full) == ["BBBBBB"]
    assert click(second, "accept") == 302


def test_a_jump_back_ends_no_offer(full: Venue, clock: time_machine.Traveller) -> None:
    first = waits(full, "AAAAAA")
    run_beat(full)
    clock.move_to(NOW - 3 * HOUR)
    run_beat(full)
    clock.shift(29 * MINUTE)
    assert click(first, "accept") == 302
    assert state(first) == ("confirmed", ["T1"])


def test_a_booking_that_a_jump_forward_has_cancelled_stays_cancelled_when_the_clock_jumps_back(
    full: Venue, clock: time_machine.Traveller
) -> None:
    made = book(full)
    clock.move_to(NOW + HOUR)
    run_beat(full)
    clock.move_to(NOW + MINUTE)
    assert click(made, "confirm") == 409
    other = book(full)
    assert click(other, "confirm") == 302
    assert click(made, "confirm") == 409
    assert (state(made), state(other)) == (("cancelled", []), ("confirmed", ["T1"]))


def test_a_booking_made_while_the_clock_was_ahead_is_cancelled_15_minutes_after_the_clock_is_right(
    full: Venue, clock: time_machine.Traveller
) -> None:
    clock.move_to(NOW + 24 * HOUR)
    made = book(full)
    clock.move_to(NOW)
    run_beat(full)
    clock.move_to(NOW + 14 * MINUTE)
    run_beat(full)
    assert state(made) == ("pending", ["T1"])
    clock.move_to(NOW + 15 * MINUTE)
    assert click(made, "confirm") == 409
    run_beat(full)
    assert state(made) == ("cancelled", [])
    assert click(book(full), "confirm") == 302


def test_a_jump_back_cancels_no_unconfirmed_booking(full: Venue, clock: time_machine.Traveller) -> None:
    made = book(full)
    clock.move_to(NOW - 3 * HOUR)
    run_beat(full)
    clock.shift(14 * MINUTE)
    assert click(made, "confirm") == 302
    assert state(made) == ("confirmed", ["T1"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(5))
def test_random_jumps_hold_no_table_after_hours_of_a_right_clock(
    full: Venue, clock: time_machine.Traveller, seed: int
) -> None:
    builders.table(full, "T2")
    dice = random.Random(seed)
    made = [waits(full, f"AAAAA{number}") for number in range(3)]
    actions: list[Callable[[], object]] = [
        lambda: run_beat(full),
        lambda: made.append(book(full)),
        lambda: waitlist.accept_offer(dice.choice(made), actor="guest", now=now()),
        lambda: waitlist.decline_offer(dice.choice(made), actor="guest", now=now()),
        lambda: email_confirmation.confirm_email(dice.choice(made), now=now()),
        lambda: commands.set_status(dice.choice(made), "cancelled", now=now(), actor="staff"),
    ]
    for _ in range(40):
        clock.move_to(NOW + dice.choice([-HOUR, MINUTE, HOUR, 24 * HOUR]) * dice.random())
        for action in dice.sample(actions, 2):
            try:
                action()
            except (InvalidTransition, SlotUnavailable):
                continue
        # Two parties at one table would be two rows that the constraint refuses; no row is without its party.
        for reservation in Reservation.objects.all():
            assert len(reservation.tables) == reservation.seatings.count()
            assert not (reservation.status == "cancelled" and reservation.tables)
    for number in range(20):
        clock.move_to(NOW + number * 30 * MINUTE)
        run_beat(full)
    assert not Seating.objects.exclude(reservation__status="confirmed").exists()
