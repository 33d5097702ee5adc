"""Tallies: whatever changes orders or reservations, they say how many there are, in the very transaction."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import RecordCount, Venue
from orders import commands as orders_commands
from orders.models import Order, OrderItem
from reservations.booking import commands as booking_commands
from reservations.models import Reservation
from tests.support import builders
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
RESERVATIONS = "/api/v1/reservations"
STATUSES = ("pending", "completed", "cancelled")


def tallied(venue: Venue, noun: str) -> dict[str, int]:
    """What the tallies say, but for those at zero."""
    found = RecordCount.objects.filter(venue=venue, record_type=noun).exclude(total=0)
    return dict(found.values_list("status", "total"))


def counted(rows: type[Order] | type[Reservation], venue: Venue) -> dict[str, int]:
    """How many rows there are of each status."""
    return dict(Counter(rows.objects.filter(venue=venue).values_list("status", flat=True)))


def order_of(venue: Venue, number: int, status: str = "pending") -> Order:
    """A row of an order, not stored and without lines."""
    now = timezone.now()
    moments = {} if status == "pending" else {f"{status}_at": now}
    return Order(
        venue=venue,
        number=number,
        business_date=now.date(),
        status=status,
        customer_id="cust_123",
        payment_method="card",
        currency="EUR",
        created_at=now,
        updated_at=now,
        **moments,
    )


# Every way of change
@pytest.mark.django_db
def test_an_order_is_tallied_when_it_is_placed_and_when_it_moves(venue: Venue, other_venue: Venue) -> None:
    order = builders.order(venue)
    builders.order(other_venue, status="cancelled")
    assert tallied(venue, "order") == {"pending": 1}
    orders_commands.change_status(order, "completed", now=timezone.now(), actor="system")
    assert tallied(venue, "order") == {"completed": 1}
    assert tallied(other_venue, "order") == {"cancelled": 1}


@pytest.mark.django_db
def test_a_reservation_is_tallied_when_it_is_taken_and_when_it_moves(venue: Venue) -> None:
    reservation = builders.reservation(venue)
    builders.order(venue)
    assert tallied(venue, "reservation") == {"pending": 1}
    booking_commands.set_status(reservation, "confirmed", now=timezone.now(), actor="system")
    assert tallied(venue, "reservation") == {"confirmed": 1}
    assert tallied(venue, "order") == {"pending": 1}


@pytest.mark.django_db
def test_many_rows_of_one_statement_are_tallied(venue: Venue, other_venue: Venue) -> None:
    Order.objects.bulk_create(
        [order_of(venue, number) for number in range(1, 6)]
        + [order_of(venue, 6, "cancelled"), order_of(other_venue, 1, "completed")]
    )
    assert (tallied(venue, "order"), tallied(other_venue, "order")) == (
        {"pending": 5, "cancelled": 1},
        {"completed": 1},
    )
    Order.objects.filter(number__lte=3).exclude(status="completed").update(
        status="completed", completed_at=timezone.now()
    )
    assert tallied(venue, "order") == {"pending": 2, "completed": 3, "cancelled": 1}


@pytest.mark.django_db
def test_rows_that_are_deleted_or_change_hands_are_tallied(venue: Venue, other_venue: Venue) -> None:
    Order.objects.bulk_create([order_of(venue, number) for number in range(1, 6)])
    Order.objects.filter(number=1).delete()
    Order.objects.filter(number=2).update(venue=other_venue)
    assert (tallied(venue, "order"), tallied(other_venue, "order")) == ({"pending": 3}, {"pending": 1})


@pytest.mark.django_db
def test_what_is_done_by_sql_is_tallied(venue: Venue) -> None:
    Order.objects.bulk_create([order_of(venue, number) for number in range(1, 6)])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE orders_order SET status = 'completed', completed_at = now() WHERE number <= 2")
        cursor.execute("DELETE FROM orders_order WHERE number = 5")
        cursor.execute("UPDATE orders_order SET customer_id = 'cust_9'")
    assert tallied(venue, "order") == {"pending": 2, "completed": 2}


@pytest.mark.django_db
def test_a_change_that_is_rolled_back_is_not_tallied(venue: Venue) -> None:
    order = builders.order(venue)
    with transaction.atomic():
        orders_commands.change_status(order, "completed", now=timezone.now(), actor="system")
        builders.order(venue)
        assert tallied(venue, "order") == {"pending": 1, "completed": 1}
        transaction.set_rollback(True)
    assert tallied(venue, "order") == {"pending": 1}


@pytest.mark.django_db(transaction=True)
def test_moves_in_opposite_directions_by_two_threads_do_not_wait_for_each_other_forever(venue: Venue) -> None:
    Order.objects.bulk_create(
        [order_of(venue, number, "pending" if number <= 30 else "completed") for number in range(1, 61)]
    )
    together = Barrier(2)

    def move(first: int, status: str) -> None:
        moments = {"completed_at": timezone.now() if status == "completed" else None}
        for number in range(first, first + 30):
            together.wait()
            Order.objects.filter(number=number).update(status=status, **moments)
        connection.close()

    with ThreadPoolExecutor(2) as threads:
        # A deadlock would be an error of one of them.
        for done in (threads.submit(move, 1, "completed"), threads.submit(move, 31, "pending")):
            done.result(timeout=30)
    assert tallied(venue, "order") == counted(Order, venue) == {"completed": 30, "pending": 30}


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_after_any_changes_by_several_threads_the_tallies_are_what_can_be_counted(
    venue: Venue, other_venue: Venue
) -> None:
    def change(seed: int) -> None:
        dice = random.Random(seed)
        for number in range(40):
            its = dice.choice([venue, other_venue])
            match dice.randrange(5):
                case 0 | 1:
                    # Another thread may delete it before it has moved.
                    with suppress(Order.DoesNotExist):
                        builders.order(its, status=dice.choice(STATUSES))
                case 2:
                    builders.reservation(its, status=dice.choice(["pending", "confirmed", "cancelled"]))
                case 3:
                    Order.objects.bulk_create(
                        [order_of(its, 1000 * (seed + 1) + 10 * number + more) for more in range(3)]
                    )
                case _:
                    victims = list(Order.objects.filter(venue=its).order_by("?").values_list("pk", flat=True)[:2])
                    OrderItem.objects.filter(order__in=victims).delete()
                    Order.objects.filter(pk__in=victims).delete()
        connection.close()

    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(change, seed) for seed in range(3)]:
            done.result(timeout=60)
    for its in (venue, other_venue):
        assert tallied(its, "order") == counted(Order, its)
        assert tallied(its, "reservation") == counted(Reservation, its)


# What lists make of them
@pytest.mark.exhaustive
@pytest.mark.django_db
def test_more_than_10_000_orders_are_counted_exactly_by_the_counter_table(
    api: Client, venue: Venue, other_venue: Venue
) -> None:
    Order.objects.bulk_create(
        [order_of(venue, number, "completed" if number % 100 == 0 else "pending") for number in range(1, 10_151)],
        batch_size=1000,
    )
    builders.order(other_venue)
    # The tally, the ids, the orders with their lines.
    with costing(3):
        answer = api.get(ORDERS, {"page": "507"}).json()
    assert answer["pagination"].pop("next_cursor")
    assert answer["pagination"] == {"page": 507, "limit": 20, "total": 10_150, "total_pages": 508, "has_more": True}
    assert [record["number"] for record in answer["data"]] == list(range(30, 10, -1))
    assert api.get(ORDERS, {"status": "pending"}).json()["pagination"]["total"] == 10_049
    assert api.get(ORDERS, {"status": "completed"}).json()["pagination"]["total"] == 101
    past = api.get(ORDERS, {"page": "509"}).json()
    assert (past["data"], past["pagination"]["total"]) == ([], 10_150)


@pytest.mark.parametrize(("asked", "total"), [({}, 5), ({"status": "confirmed"}, 3), ({"date": "2031-05-03"}, 5)])
@pytest.mark.django_db
def test_a_total_is_exact_whether_it_is_counted_or_tallied(
    api: Client, venue: Venue, asked: dict[str, str], total: int
) -> None:
    for status in ("pending", "confirmed", "confirmed", "confirmed", "cancelled"):
        builders.reservation(venue, status=status)
    assert api.get(RESERVATIONS, asked).json()["pagination"]["total"] == total


@pytest.mark.django_db
def test_list_of_one_day_is_never_counted_by_the_counter_table(api: Client, venue: Venue) -> None:
    for _ in range(4):
        builders.reservation(venue)
    RecordCount.objects.filter(venue=venue).update(total=99)
    assert api.get(RESERVATIONS, {"date": "2031-05-03"}).json()["pagination"]["total"] == 4
    assert api.get(RESERVATIONS).json()["pagination"]["total"] == 99
