"""When an order is promised, and how many the kitchen takes in a slot."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Venue
from framework.errors import ApiError
from orders import commands
from orders.models import MenuItem, Order, OrderingSettings, OrderSlot
from tests.support import builders

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def api(venue: Venue) -> Client:
    return builders.client(venue)


def post(api: Client, requested_at: str | None = None, **fields: Any) -> Any:
    if requested_at:
        fields["fulfilment"] = {"type": "pickup", "requested_at": f"2026-11-21T{requested_at}:00Z"}
    with time_machine.travel(NOON, tick=False):
        return api.post("/api/v1/orders", builders.order_body(**fields), content_type="application/json")


def promised(api: Client, requested_at: str | None = None, **fields: Any) -> str | None:
    response = post(api, requested_at, **fields)
    assert response.status_code == 201, response.content
    record: dict[str, str | None] = response.json()
    return record["promised_at"] and record["promised_at"][11:16]


def slots() -> dict[str, int]:
    return {f"{slot.starts_at:%H:%M}": slot.orders for slot in OrderSlot.objects.order_by("starts_at")}


def test_without_settings_nothing_is_promised_but_the_requested_time(api: Client) -> None:
    assert promised(api) is None
    assert promised(api, "12:01") == "12:01"
    assert slots() == {}


def test_an_order_is_promised_after_the_preparation_time_of_the_venue_or_of_its_slowest_dish(
    api: Client, venue: Venue
) -> None:
    builders.menu(venue)
    OrderingSettings.objects.create(venue=venue, prep_minutes=20)
    assert promised(api) == "12:20"
    MenuItem.objects.update(prep_minutes=45)
    assert promised(api) == "12:45"
    assert promised(api, "18:00") == "18:00"
    assert slots() == {}


def test_a_time_that_is_too_early_is_refused_with_the_next_one(api: Client, venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=20)
    response = post(api, "12:10")
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (
        400,
        "slot_unavailable",
        "fulfilment.requested_at",
    )
    assert error["alternatives"] == ["2026-11-21T12:20:00Z"]
    assert Order.objects.count() == 0


def test_a_full_slot_refuses_its_times_with_the_next_one_and_moves_other_orders_on(api: Client, venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=20, orders_per_slot=2)
    assert [promised(api), promised(api, "12:25")] == ["12:20", "12:25"]
    error = post(api, "12:29").json()["error"]
    assert (error["code"], error["alternatives"]) == ("slot_unavailable", ["2026-11-21T12:30:00Z"])
    assert [promised(api), promised(api), promised(api)] == ["12:30", "12:30", "12:45"]
    assert slots() == {"12:15": 2, "12:30": 2, "12:45": 1}


def test_a_cancelled_order_gives_its_place_back_and_a_completed_one_keeps_it(api: Client, venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=0, orders_per_slot=2)
    first, second = (post(api, "18:00").json()["id"] for _ in range(2))
    assert post(api, "18:00").status_code == 400
    for order, status in ((first, "cancelled"), (first, "cancelled"), (second, "completed")):
        api.put(f"/api/v1/orders/{order}/status", {"status": status}, content_type="application/json")
    assert slots() == {"18:00": 1}


def test_a_kitchen_that_is_full_for_a_day_takes_no_order(api: Client, venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=0, orders_per_slot=1, slot_minutes=60)
    OrderSlot.objects.bulk_create(
        OrderSlot(venue=venue, starts_at=NOON + timedelta(hours=hours), orders=1) for hours in range(25)
    )
    error = post(api).json()["error"]
    assert (error["code"], error["alternatives"]) == ("slot_unavailable", [])


def place_concurrently(venue: Venue, count: int, *, threads: int = 8, **fields: Any) -> list[str]:
    """Place orders in threads; return what came of each: `placed`, or the code of the refusal."""

    def place(_: int) -> str:
        try:
            commands.place_order(
                venue,
                now=timezone.now(),
                actor="system",
                **({"customer_id": "cust_123", "payment_method": "card"} | fields),
            )
        except ApiError as error:
            return str(error.code)
        finally:
            connection.close()
        return "placed"

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(place, range(count)))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_concurrent_orders_a_slot_takes_as_many_as_it_has_places(venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, prep_minutes=0, orders_per_slot=5)
    at = timezone.now() + timedelta(hours=2)
    items = [{"menu_item_id": "margherita", "quantity": 1}]
    found = place_concurrently(venue, 40, items=items, fulfilment={"type": "pickup", "requested_at": at})
    assert (found.count("placed"), found.count("slot_unavailable")) == (5, 35)
    assert (Order.objects.count(), OrderSlot.objects.get().orders) == (5, 5)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_concurrent_orders_each_portion_is_sold_once_whatever_the_order_of_the_dishes(venue: Venue) -> None:
    menu = builders.menu(venue)
    builders.dish(menu, "water", "2.00")
    MenuItem.objects.update(stock=20)
    pair = [{"menu_item_id": "margherita", "quantity": 1}, {"menu_item_id": "water", "quantity": 2}]
    results = []
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda items: place_concurrently(venue, 20, threads=4, items=items), (pair, pair[::-1])):
            results += found
    assert (results.count("placed"), results.count("invalid_request")) == (10, 30)
    assert dict(MenuItem.objects.values_list("ref", "stock")) == {"margherita": 10, "water": 0}


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_orders_that_are_placed_and_cancelled_at_once_do_not_deadlock_and_count_right(venue: Venue) -> None:
    builders.menu(venue)
    MenuItem.objects.update(stock=30)
    OrderingSettings.objects.create(venue=venue, prep_minutes=0, orders_per_slot=30)
    at = timezone.now() + timedelta(hours=2)
    items = [{"menu_item_id": "margherita", "quantity": 1}]

    def place_and_cancel(_: int) -> None:
        try:
            for _ in range(10):
                fulfilment = {"type": "pickup", "requested_at": at}
                order = builders.order(venue, items=items, fulfilment=fulfilment)
                commands.change_status(order, "cancelled", now=timezone.now(), actor="system")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(place_and_cancel, range(8)))
    assert MenuItem.objects.get().stock == 30
    assert OrderSlot.objects.get().orders == 0
