"""Ordering from a published menu: what is sold, and what it costs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from decimal import Decimal
from difflib import SequenceMatcher
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from framework.errors import InvalidRequest
from orders import commands
from orders.menu.item_changes import change_items
from orders.models import Menu, MenuItem, Order, OrderItem, OrderNumber
from tests.support import builders

ORDERS = "/api/v1/orders"
# 13:00 in Rome.
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MONEY = ("name", "unit_price", "line_total")


def post(api: Client, *refs: str, **changes: Any) -> Any:
    """Order one of each."""
    items = [{"menu_item_id": ref, "quantity": 1} for ref in refs]
    with time_machine.travel(NOON, tick=False):
        return api.post(ORDERS, builders.order_body(items=items) | changes, content_type="application/json")


def refused(response: Any) -> list[tuple[str, str]]:
    """All that is wrong, of which nothing was stored."""
    assert (Order.objects.count(), OrderItem.objects.count(), OrderNumber.objects.count()) == (0, 0, 0)
    assert Event.objects.count() == 0
    return builders.problems_of(response)


def test_two_pizzas_are_priced_by_the_menu(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    record = post(api, items=[{"menu_item_id": "margherita", "quantity": 2, "notes": "no basil"}]).json()
    assert record["items"] == [
        {
            "menu_item_id": "margherita",
            "name": "Margherita",
            "quantity": 2,
            "notes": "no basil",
            "modifiers": [],
            "unit_price": "9.50",
            "line_total": "19.00",
        }
    ]
    sums = ("currency", "subtotal", "tax", "total")
    assert [record[name] for name in sums] == ["EUR", "17.27", "1.73", "19.00"]


def test_a_priced_order_is_the_same_record_everywhere(api: Client, venue: Venue) -> None:
    builders.menu(venue, water="2.00")
    record = post(api, "margherita", "water", "margherita").json()
    path = f"{ORDERS}/{record['id']}"
    assert api.get(path).json() == record
    assert api.get(ORDERS).json()["data"] == [record]
    assert api.put(f"{path}/status", {"status": "pending"}, content_type="application/json").json() == record
    assert Event.objects.get().record == record


@pytest.mark.parametrize(
    ("currency", "price", "expected"),
    [
        ("JPY", "950", ("950", "1900", "1727", "173", "1900")),
        ("KWD", "1.250", ("1.250", "2.500", "2.273", "0.227", "2.500")),
        ("EUR", "10", ("10.00", "20.00", "18.18", "1.82", "20.00")),
    ],
)
@pytest.mark.django_db
def test_money_has_the_digits_of_its_currency(currency: str, price: str, expected: tuple[str, ...]) -> None:
    venue = builders.venue(currency=currency)
    builders.menu(venue, margherita=price)
    api = builders.client(venue)
    made = api.post(ORDERS, builders.order_body(), content_type="application/json").json()
    for record in (made, api.get(f"{ORDERS}/{made['id']}").json()):
        line = record["items"][0]
        found = line["unit_price"], line["line_total"], record["subtotal"], record["tax"], record["total"]
        assert found == expected


def test_prices_without_tax_have_it_added(api: Client, venue: Venue) -> None:
    Venue.objects.filter(pk=venue.pk).update(prices_include_tax=False)
    builders.menu(venue)
    record = post(api, "margherita").json()
    assert (record["subtotal"], record["tax"], record["total"]) == ("9.50", "0.95", "10.45")


def test_an_order_keeps_the_name_and_the_price_that_it_was_ordered_at(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    record = post(api, "margherita").json()
    menu.items.update(name="Regina", price=12)
    assert api.get(f"{ORDERS}/{record['id']}").json() == record
    menu.delete()
    assert api.get(f"{ORDERS}/{record['id']}").json() == record
    assert OrderItem.objects.get().tax_percent == Decimal(10)


@pytest.mark.parametrize("is_published", [None, False])
def test_without_a_published_menu_any_id_goes_and_nothing_is_priced(
    api: Client, venue: Venue, is_published: bool | None
) -> None:
    if is_published is not None:
        builders.menu(venue)
        Menu.objects.update(is_published=is_published)
    record = post(api, "margherita", "anything").json()
    assert [[line[name] for name in MONEY] for line in record["items"]] == [[None] * 3] * 2
    assert [record[name] for name in ("subtotal", "tax", "total")] == [None] * 3


def test_the_menu_of_another_venue_is_not_ours(api: Client, venue: Venue, other_venue: Venue) -> None:
    builders.menu(other_venue)
    assert post(api, "anything").status_code == 201


# Refusals
def test_what_is_not_on_the_menu_is_refused_with_the_nearest_that_is(api: Client, venue: Venue) -> None:
    builders.menu(venue, tiramisu="6.00")
    response = post(api, "margarita", "tiramisu", "xyz")
    assert refused(response) == [
        ("items[0].menu_item_id", "There is no `margarita` on the menu. Did you mean `margherita`?"),
        ("items[2].menu_item_id", "There is no `xyz` on the menu."),
    ]
    assert response.json()["error"]["message"] == (
        "`items[0].menu_item_id`: There is no `margarita` on the menu. Did you mean `margherita`?"
    )


@pytest.mark.parametrize("ref", ["Margherita", "margherita ", "MARGHERITA"])
def test_ids_are_exact(api: Client, venue: Venue, ref: str) -> None:
    builders.menu(venue)
    assert refused(post(api, ref))[0][0] == "items[0].menu_item_id"


def test_what_cannot_be_had_now_is_refused_each_with_its_reason(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    lunch = menu.categories.create(name="Lunch", served_from=time(11), served_until=time(13), position=1)
    builders.dish(menu, "off", is_available=False)
    builders.dish(menu, "gone", sold_out_on=date(2026, 11, 21))
    builders.dish(menu, "back", sold_out_on=date(2026, 11, 20))
    builders.dish(menu, "lunch", category=lunch)
    assert refused(post(api, "margherita", "off", "gone", "back", "lunch", "off", payment_method="card")) == [
        ("items[1].menu_item_id", "`off` is not available."),
        ("items[2].menu_item_id", "`gone` is sold out today."),
        ("items[4].menu_item_id", "`lunch` is served from 11:00 to 13:00; the order is for 13:00."),
        ("items[5].menu_item_id", "`off` is not available."),
    ]


@pytest.mark.parametrize(
    ("hours", "at", "served"),
    [
        (("11:00", "15:00"), "10:59", False),
        (("11:00", "15:00"), "11:00", True),
        (("11:00", "15:00"), "14:59", True),
        (("11:00", "15:00"), "15:00", False),
        (("22:00", "02:00"), "21:59", False),
        (("22:00", "02:00"), "22:00", True),
        (("22:00", "02:00"), "01:59", True),
        (("22:00", "02:00"), "02:00", False),
    ],
)
def test_a_category_is_served_by_the_venues_clock(venue: Venue, hours: tuple[str, str], at: str, served: bool) -> None:
    menu = builders.menu(venue)
    start, end = (time.fromisoformat(text) for text in hours)
    menu.categories.update(served_from=start, served_until=end)
    # Rome is an hour ahead of UTC in November.
    now = datetime.fromisoformat(f"2026-11-21T{at}+01:00")
    if served:
        assert builders.order(venue, now=now).total == Decimal("19.00")
    else:
        with pytest.raises(InvalidRequest, match="is served from"):
            builders.order(venue, now=now)


def test_sold_out_ends_with_the_day_at_the_venue(venue: Venue) -> None:
    menu = builders.menu(venue)
    menu.items.update(sold_out_on=date(2026, 11, 21))
    with pytest.raises(InvalidRequest, match="is sold out today"):
        builders.order(venue, now=datetime(2026, 11, 21, 22, 59, tzinfo=UTC))
    assert builders.order(venue, now=datetime(2026, 11, 21, 23, 0, tzinfo=UTC)).number == 1


def test_a_venue_takes_the_payment_labels_that_it_lists(api: Client, venue: Venue) -> None:
    Venue.objects.filter(pk=venue.pk).update(payment_methods=["cash", "voucher"])
    assert refused(post(api, "margherita", payment_method="card")) == [
        ("payment_method", "This venue does not take `card`. It takes: cash, voucher.")
    ]
    assert post(api, "margherita", payment_method="voucher").json()["payment_method"] == "voucher"


def test_all_errors_are_reported_together(api: Client, venue: Venue) -> None:
    Venue.objects.filter(pk=venue.pk).update(payment_methods=["cash"])
    builders.menu(venue)
    params = [param for param, _ in refused(post(api, *(f"x{number}" for number in range(100))))]
    assert params == [*(f"items[{number}].menu_item_id" for number in range(100)), "payment_method"]


def test_a_venue_whose_published_menu_is_empty_sells_nothing(api: Client, venue: Venue) -> None:
    Menu.objects.create(venue=venue, is_published=True)
    assert refused(post(api, "margherita")) == [("items[0].menu_item_id", "There is no `margherita` on the menu.")]


# Cost and concurrency
@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [1, 100])
def test_an_order_from_a_menu_costs_two_statements_however_long(
    venue: Venue, count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.menu(venue, **{f"dish-{number}": "1.00" for number in range(100)})
    items = [{"menu_item_id": f"dish-{number}", "quantity": 1} for number in range(count)]
    # The menu with those of its items; the order with all that is written down of it.
    with django_assert_num_queries(2):
        result = commands.place_order(
            venue, now=NOON, actor="system", customer_id="c", payment_method="card", items=items
        )
    assert result["total"] == f"{count}.00"


@pytest.mark.exhaustive
def test_unknown_ids_are_compared_with_the_few_that_come_near(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    menu = builders.menu(venue)
    category = menu.categories.get()
    MenuItem.objects.bulk_create(
        MenuItem(menu=menu, category=category, ref=f"dish-{'x' * 50}-{number}", name="Dish", price=1)
        for number in range(2000)
    )
    compared: list[str] = []
    compare = SequenceMatcher.set_seq1

    def noted(matcher: SequenceMatcher[str], word: str) -> None:
        compared.append(word)
        compare(matcher, word)

    monkeypatch.setattr(SequenceMatcher, "set_seq1", noted)
    items = [{"menu_item_id": f"dish-{'x' * 50}-{number}x", "quantity": 1} for number in range(100)]
    # The menu with those of its items, and what comes near.
    with (
        django_assert_num_queries(2),
        pytest.raises(InvalidRequest, match=f"Did you mean `dish-{'x' * 50}-0`") as refused,
    ):
        commands.place_order(venue, now=NOON, actor="system", customer_id="c", payment_method="card", items=items)
    messages = [problem.message for problem in refused.value.details]
    assert (len(messages), sum("Did you mean" in words for words in messages)) == (100, 3)
    # Each is made with an empty word.
    assert len(list(filter(None, compared))) == 15


@pytest.mark.django_db(transaction=True)
def test_who_orders_after_a_dish_was_marked_sold_out_does_not_get_it() -> None:
    venue = builders.venue()
    dish = builders.menu(venue).items.get()
    start = Barrier(5)

    def order(_: int) -> datetime | None:
        """When the order was read as placed; None where it was refused."""
        try:
            start.wait(timeout=10)
            for _ in range(20):
                builders.order(venue, now=NOON)
        except InvalidRequest:
            return None
        finally:
            connection.close()
        return NOON

    def sell_out() -> int:
        start.wait(timeout=10)
        try:
            change_items(MenuItem.objects.filter(pk=dish.pk), {"is_sold_out": True}, actor="system", now=NOON)
            return Order.objects.count()
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as threads:
        sold = threads.submit(sell_out)
        list(threads.map(order, range(4)))
        placed_before = sold.result()
    # Those that had read the menu before may still come in: one of each thread at most.
    assert placed_before <= Order.objects.count() <= placed_before + 4
    assert Order.objects.count() == OrderItem.objects.count() == Event.objects.filter(type="order.created").count()


# Rows
@pytest.mark.django_db(transaction=True)
def test_the_database_keeps_an_item_and_its_category_on_one_menu() -> None:
    menu, other = builders.menu(builders.venue()), builders.menu(builders.venue("other"))
    with pytest.raises(IntegrityError, match="menu_item_and_its_category_on_one_menu"):
        menu.items.update(category=other.categories.get())
    with pytest.raises(IntegrityError, match="menu_item_and_its_category_on_one_menu"):
        menu.items.update(menu=other, ref="another")


def test_a_menu_goes_with_all_that_is_on_it(venue: Venue) -> None:
    builders.menu(venue).delete()
    assert (Menu.objects.count(), MenuItem.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"price": -1}, "menu_item_price_not_negative"),
        ({"tax_percent": 101}, "menu_item_tax_from_0_to_100_percent"),
        ({"ref": ""}, "menu_item_id_not_empty"),
    ],
)
def test_the_database_refuses_items_that_make_no_sense(venue: Venue, fields: Any, constraint: str) -> None:
    menu = builders.menu(venue)
    with pytest.raises(IntegrityError, match=constraint):
        menu.items.update(**fields)


@pytest.mark.django_db
def test_sold_out_today_is_by_each_venues_own_day() -> None:
    days = {"Europe/Rome": date(2026, 11, 21), "Pacific/Kiritimati": date(2026, 11, 22)}
    dishes = {zone: builders.menu(builders.venue(zone, timezone=zone)).items.get() for zone in days}
    assert change_items(MenuItem.objects.all(), {"is_sold_out": True}, actor="system", now=NOON) == 2
    for zone, dish in dishes.items():
        dish.refresh_from_db()
        assert dish.sold_out_on == days[zone]
    assert change_items(MenuItem.objects.all(), {"is_sold_out": False}, actor="system", now=NOON) == 2
    assert list(MenuItem.objects.values_list("sold_out_on", flat=True)) == [None, None]
