"""The stock of dishes: orders take portions, cancelled orders give them back, the last one is an event."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Event, Venue
from orders import commands
from orders.menu import stock
from orders.models import MenuItem, Order
from tests.support import builders

pytestmark = pytest.mark.django_db

ORDERS = "/api/v1/orders"


@pytest.fixture
def api(venue: Venue) -> Client:
    return builders.client(venue)


@pytest.fixture
def dish(venue: Venue) -> MenuItem:
    """Three portions are left."""
    builders.menu(venue)
    MenuItem.objects.update(stock=3)
    return MenuItem.objects.get()


def post(api: Client, *quantities: int) -> Any:
    items = [{"menu_item_id": "margherita", "quantity": quantity} for quantity in quantities]
    return api.post(ORDERS, builders.order_body(items=items), content_type="application/json")


def left(dish: MenuItem) -> int | None:
    dish.refresh_from_db()
    return dish.stock


def sold_out_events() -> list[Event]:
    return list(Event.objects.filter(type="menu.item_sold_out"))


def test_an_order_takes_its_portions_and_one_for_more_than_are_left_is_refused(api: Client, dish: MenuItem) -> None:
    assert post(api, 2).status_code == 201
    assert left(dish) == 1
    problems = builders.problems_of(post(api, 1, 1))
    assert problems == [("items[0].quantity", "Only 1 of `margherita` is left.")]
    assert (left(dish), Order.objects.count(), sold_out_events()) == (1, 1, [])


def test_the_last_portion_is_an_event_and_the_next_order_is_refused(api: Client, dish: MenuItem) -> None:
    post(api, 1, 2)
    (event,) = sold_out_events()
    assert (event.subject, event.record["id"], event.record["name"]) == (dish.pk, "margherita", "Margherita")
    assert builders.problems_of(post(api, 1)) == [("items[0].menu_item_id", "`margherita` is sold out.")]
    assert len(sold_out_events()) == 1


@pytest.mark.parametrize(("stage", "expected"), [("received", 3), ("accepted", 3), ("preparing", 1), ("ready", 1)])
def test_a_cancelled_order_gives_its_portions_back_unless_the_kitchen_has_begun(
    api: Client, dish: MenuItem, stage: str, expected: int
) -> None:
    order = f"{ORDERS}/{post(api, 2).json()['id']}"
    api.put(f"{order}/stage", {"stage": stage}, content_type="application/json")
    for _ in range(2):
        api.put(f"{order}/status", {"status": "cancelled"}, content_type="application/json")
    assert left(dish) == expected


def test_a_dish_that_is_not_counted_is_neither_taken_nor_given_back(api: Client, dish: MenuItem) -> None:
    MenuItem.objects.update(stock=None)
    order = post(api, 900).json()["id"]
    api.put(f"{ORDERS}/{order}/status", {"status": "cancelled"}, content_type="application/json")
    assert left(dish) is None


def test_portions_that_another_order_took_in_between_are_refused_and_nothing_is_stored(
    api: Client, dish: MenuItem, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = stock.take_portions

    def take_late(*args: Any, **options: Any) -> None:
        MenuItem.objects.update(stock=1)
        take(*args, **options)

    monkeypatch.setattr(stock, "take_portions", take_late)
    assert builders.problems_of(post(api, 2)) == [("items", "Only 1 of `margherita` is left.")]
    assert Order.objects.count() == 0


def test_portions_that_were_not_counted_when_they_were_ordered_are_not_given_back(api: Client, dish: MenuItem) -> None:
    MenuItem.objects.update(stock=None)
    order = post(api, 5).json()["id"]
    MenuItem.objects.update(stock=10, ref="pizza")
    api.put(f"{ORDERS}/{order}/status", {"status": "cancelled"}, content_type="application/json")
    assert left(dish) == 10


def test_an_order_that_was_completed_and_reopened_gives_nothing_back(
    api: Client, venue: Venue, dish: MenuItem
) -> None:
    order = Order.objects.of(venue).with_public_id(post(api, 2).json()["id"]).get()
    order.venue = venue
    for status in ("completed", "pending", "cancelled"):
        if status == "pending":
            commands.reopen_order(order, now=timezone.now(), actor="staff:ada@example.com")
        else:
            commands.change_status(order, status, now=timezone.now(), actor="system")
    assert left(dish) == 1
