"""Orders as rows: numbers, days, moves, under threads too."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from orders import commands
from orders.models import InvalidTransition, Order, OrderItem, OrderNumber
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "now", "day"),
    [
        ("Europe/Rome", datetime(2026, 11, 21, 22, 59, 59, tzinfo=UTC), date(2026, 11, 21)),
        ("Europe/Rome", datetime(2026, 11, 21, 23, 0, tzinfo=UTC), date(2026, 11, 22)),
        ("Pacific/Kiritimati", datetime(2026, 11, 21, 10, 0, tzinfo=UTC), date(2026, 11, 22)),
        ("America/Los_Angeles", datetime(2026, 11, 21, 7, 59, tzinfo=UTC), date(2026, 11, 20)),
    ],
)
@pytest.mark.django_db
def test_the_business_date_is_the_day_at_the_venue(zone: str, now: datetime, day: date) -> None:
    order = builders.order(builders.venue(timezone=zone), now=now)
    assert (order.business_date, order.created_at) == (day, now)


def test_numbers_begin_with_1_at_each_venue_on_each_day(venue: Venue, other_venue: Venue) -> None:
    next_day = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    numbers = [
        builders.order(at, now=now).number
        for at, now in [(venue, NOON), (venue, NOON), (other_venue, NOON), (venue, next_day), (venue, NOON)]
    ]
    assert numbers == [1, 2, 1, 1, 3]


def test_an_order_that_fails_takes_no_number(venue: Venue) -> None:
    builders.order(venue, now=NOON)
    with pytest.raises(IntegrityError, match="order_item_quantity_in_1_to_999"), transaction.atomic():
        builders.order(venue, now=NOON, items=[{"menu_item_id": "margherita", "quantity": 0}])
    assert builders.order(venue, now=NOON).number == 2
    assert OrderItem.objects.count() == 2


def test_an_order_is_placed_by_one_statement_after_the_menu_was_asked_for(
    venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    items = [{"menu_item_id": str(number), "quantity": 1} for number in range(100)]
    with django_assert_num_queries(2):
        commands.place_order(venue, now=NOON, actor="system", customer_id="c", payment_method="card", items=items)


def test_lines_keep_their_order(venue: Venue) -> None:
    names = [f"dish-{number}" for number in range(30, 0, -1)]
    order = builders.order(venue, items=[{"menu_item_id": name, "quantity": 1} for name in names])
    assert [item.menu_item_id for item in Order.objects.with_items().get(pk=order.pk).items.all()] == names


def test_an_event_has_the_lines_in_their_order_however_the_order_was_read(venue: Venue) -> None:
    names = [f"dish-{number}" for number in range(9, 0, -1)]
    made = builders.order(venue, items=[{"menu_item_id": name, "quantity": 1} for name in names])
    # A line that is written again moves to the end of its table.
    OrderItem.objects.filter(order=made, position=0).update(notes="no basil")
    commands.change_status(Order.objects.get(pk=made.pk), "completed", now=LATER, actor="system")
    record = Event.objects.get(type="order.completed").record
    assert [line["menu_item_id"] for line in record["items"]] == names


@pytest.mark.parametrize(
    ("status", "to", "allowed"),
    [
        ("pending", "pending", True),
        ("pending", "completed", True),
        ("pending", "cancelled", True),
        ("completed", "pending", False),
        ("completed", "completed", True),
        ("completed", "cancelled", False),
        ("cancelled", "pending", False),
        ("cancelled", "completed", False),
        ("cancelled", "cancelled", True),
    ],
)
def test_a_move(venue: Venue, status: str, to: str, allowed: bool) -> None:
    order = builders.order(venue, status=status, now=NOON)
    before = Order.objects.values().get(pk=order.pk)
    if allowed:
        order.change_status(to, now=LATER)
    else:
        with pytest.raises(InvalidTransition) as refused:
            order.change_status(to, now=LATER)
        assert refused.value.message == f"This order is {status}, which is final."
        assert refused.value.param == "status"
    moved = {"status": to, f"{to}_at": LATER, "updated_at": LATER, "version": 2} if status != to and allowed else {}
    assert Order.objects.values().get(pk=order.pk) == before | moved
    assert (order.status, order.version) == (to if allowed else status, (before | moved)["version"])


def test_an_order_that_was_read_before_moves_by_what_is_stored(venue: Venue) -> None:
    order = builders.order(venue, now=NOON)
    stale = Order.objects.get(pk=order.pk)
    order.change_status("cancelled", now=NOON)
    with pytest.raises(InvalidTransition):
        stale.change_status("completed", now=LATER)
    assert (stale.status, stale.cancelled_at, stale.completed_at) == ("cancelled", NOON, None)


def test_the_database_holds_status_and_moments_together(venue: Venue) -> None:
    order = builders.order(venue)
    with pytest.raises(IntegrityError, match="order_times_match_status"):
        Order.objects.filter(pk=order.pk).update(status="completed")


# Threads
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_numbers_have_no_gaps_and_no_doubles_under_eight_threads() -> None:
    venues = [builders.venue("one"), builders.venue("two")]

    def place(number: int) -> None:
        try:
            builders.order(venues[number % 2], now=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(place, range(80)))
    for venue in venues:
        assert sorted(Order.objects.of(venue).values_list("number", flat=True)) == list(range(1, 41))
        assert OrderNumber.objects.get(venue=venue).last == 40


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_moves_exactly_one_wins() -> None:
    venue = builders.venue()
    start = Barrier(2)

    def move(job: tuple[Order, str]) -> str | None:
        order, status = job
        try:
            start.wait(timeout=10)
            order.change_status(status, now=LATER)
        except InvalidTransition:
            return None
        else:
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for _ in range(10):
            made = builders.order(venue, now=NOON)
            jobs = [(Order.objects.get(pk=made.pk), status) for status in ("completed", "cancelled")]
            (winner,) = [status for status in threads.map(move, jobs) if status]
            stored = Order.objects.get(pk=made.pk)
            assert (stored.status, stored.version) == (winner, 2)
