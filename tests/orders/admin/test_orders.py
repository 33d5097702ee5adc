"""The back office of orders: the same moves as in the API, and no way to rewrite what was ordered."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, RecordCount, Venue
from orders import commands
from orders.models import InvalidTransition, Order, OrderItem, OrderNumber
from tests.support import builders
from tests.support.html import form_of

ORDERS = "/admin/orders/order/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


@pytest.mark.exhaustive
def test_a_list_of_orders_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            builders.order(builders.venue(), now=NOON)
        # Session, user, the estimate, the count, the orders, the days of the hierarchy, and saved filters.
        # With the list's own time limit, and the savepoint of the test around it.
        with django_assert_num_queries(11):
            assert staff.get(ORDERS).status_code == 200


def test_the_number_and_the_time_of_an_order_are_of_the_day_of_its_venue(staff: Client) -> None:
    venue = builders.venue(timezone="Asia/Tokyo")
    builders.order(venue, now=datetime(2026, 11, 21, 23, 35, tzinfo=UTC))
    page = staff.get(ORDERS).content.decode()
    assert ">#1</a>" in page
    assert ">2026-11-22 08:35</td>" in page


def test_the_list_says_the_day_of_orders_of_other_days(staff: Client, venue: Venue) -> None:
    order = builders.order(venue, now=NOON)
    with time_machine.travel(LATER, tick=False):
        page = staff.get(ORDERS).content.decode()
    assert re.findall(r"field-placed[^>]*>([^<]+)", page) == ["13:00"]
    with time_machine.travel(LATER + timedelta(days=1), tick=False):
        page = staff.get(ORDERS).content.decode()
    assert re.findall(r"field-placed[^>]*>([^<]+)", page) == ["2026-11-21 13:00"]
    # The customer leads to their orders, and the venue to its row.
    assert f'<a href="?q={order.customer_id}">{order.customer_id}</a>' in page
    assert f'<a href="/admin/accounts/venue/{venue.pk}/change/">{venue}</a>' in page


def test_the_list_shows_the_stage_of_the_kitchen_until_an_order_ends(staff: Client, venue: Venue) -> None:
    ready, completed = builders.order(venue, now=NOON), builders.order(venue, now=NOON)
    builders.order(venue, now=NOON)
    commands.change_stage(ready, Order.Stage.READY, now=NOON, actor="test")
    commands.change_status(completed, Order.Status.COMPLETED, now=NOON, actor="test")
    page = staff.get(ORDERS).content.decode()
    states = re.findall(r'<td class="field-progress"><span class="badge (\w+)">(\w+)</span>', page)
    assert sorted(states) == [("good", "Ready"), ("info", "New"), ("soft", "Completed")]


def test_months_are_one_of_the_filters(staff: Client, venue: Venue) -> None:
    builders.order(venue, now=NOON)
    builders.order(venue, now=NOON.replace(month=10))
    page = staff.get(ORDERS).content.decode()
    folded = page.partition('<details class="filters" id="changelist-filter">')[2].partition("</details>")[0]
    assert re.findall(r"month=(\d+)[^>]*>([^<]+)</a>", folded) == [("10", "October 2026"), ("11", "November 2026")]
    page = staff.get(f"{ORDERS}?business_date__year=2026&business_date__month=10").content.decode()
    assert '<span class="chosen"><span>Date</span> 2026-10</span>' in page
    assert '<span class="count">1</span>' in page


@pytest.mark.parametrize("query", ["q=cust_123", "q=trattoria", "status__exact=pending", "business_date__year=2026"])
def test_orders_are_found(staff: Client, venue: Venue, query: str) -> None:
    builders.order(venue, now=NOON)
    assert "1 order" in staff.get(f"{ORDERS}?{query}").content.decode()


@pytest.mark.exhaustive
def test_an_order_opens_with_its_lines(
    staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    order = builders.order(venue, items=[{"menu_item_id": f"dish-{number}", "quantity": 1} for number in range(20)])
    # The model's content type, which a process reads once.
    ContentType.objects.get_for_model(Order)
    # Session, user, the order, its venue, its lines, its events.
    with django_assert_num_queries(6):
        response = staff.get(f"{ORDERS}{order.pk}/change/")
    assert response.status_code == 200
    assert "dish-19" in response.content.decode()


@pytest.mark.exhaustive
def test_actions_move_what_may_move_and_say_what_may_not(staff: Client, venue: Venue) -> None:
    orders = [builders.order(venue, status=status, now=NOON) for status in ("pending", "completed", "cancelled")]
    chosen = {"action": "complete", "_selected_action": [str(order.pk) for order in orders]}
    asked = staff.post(ORDERS, chosen).content.decode()
    assert ("1 order:" in asked, Order.objects.filter(status="completed").count()) == (True, 1)
    response = staff.post(ORDERS, chosen | {"confirmed": "yes"})
    assert sorted(builders.messages_of(response)) == [
        "#1 of 2026-11-21 was completed.",
        "#2 of 2026-11-21 was completed.",
        "#3 of 2026-11-21: This order is cancelled, which is final.",
    ]
    chosen = {"action": "cancel", "_selected_action": [str(orders[0].pk)], "confirmed": "yes"}
    assert staff.post(ORDERS, chosen).status_code == 400
    response = staff.post(ORDERS, chosen | {"reason": "The oven is broken"})
    assert builders.messages_of(response)[-1] == "#1 of 2026-11-21: This order is completed, which is final."
    statuses = [Order.objects.get(pk=order.pk).status for order in orders]
    assert statuses == ["completed", "completed", "cancelled"]


def test_an_address_that_is_mended_is_a_new_version_and_nothing_else_changes(staff: Client, venue: Venue) -> None:
    order = builders.order(venue, now=NOON, metadata={"table": "7"})
    before = Order.objects.values().get(pk=order.pk)
    lines = {"items-TOTAL_FORMS": "0", "items-INITIAL_FORMS": "0"}
    tampered = {"status": "completed", "customer_id": "x", "metadata": "[]", "number": "9", "total": "1.00"}
    with time_machine.travel(LATER, tick=False):
        response = staff.post(f"{ORDERS}{order.pk}/change/", lines | tampered | {"delivery_address": "2 Main St"})
    assert response.status_code == 302
    assert Order.objects.values().get(pk=order.pk) == before | {
        "delivery_address": "2 Main St",
        "version": 2,
        "updated_at": LATER,
    }
    event = Event.objects.get(type="order.updated")
    assert (event.actor, event.record["delivery_address"], event.record["version"]) == (
        "staff:staff@example.com",
        "2 Main St",
        2,
    )


def test_saving_an_order_unchanged_is_no_new_version(staff: Client, venue: Venue) -> None:
    order = builders.order(venue, now=NOON, delivery_address="1 Main St")
    lines = {"items-TOTAL_FORMS": "0", "items-INITIAL_FORMS": "0"}
    assert staff.post(f"{ORDERS}{order.pk}/change/", lines | {"delivery_address": "1 Main St"}).status_code == 302
    order.refresh_from_db()
    assert (order.version, order.updated_at) == (1, NOON)
    assert not Event.objects.filter(type="order.updated").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("address", ["1 Main St\n2nd floor", " 1 Main St\r\n\r\n2nd floor", None])
def test_an_address_of_several_lines_survives_a_save(staff: Client, venue: Venue, address: str | None) -> None:
    order = builders.order(venue, now=NOON, delivery_address=address)
    path = f"{ORDERS}{order.pk}/change/"
    form = form_of(staff.get(path), "order_form")
    assert staff.post(path, form).status_code == 302
    order.refresh_from_db()
    assert (order.delivery_address, order.version) == (address, 1)
    assert staff.post(path, form | {"delivery_address": "3 Main St\r\nback door"}).status_code == 302
    order.refresh_from_db()
    assert (order.delivery_address, order.version) == ("3 Main St\nback door", 2)


def test_mending_an_address_does_not_write_over_a_move_that_came_between(staff: Client, venue: Venue) -> None:
    order = builders.order(venue, now=NOON)
    read = Order.objects.get(pk=order.pk)
    order.change_status("completed", now=NOON)
    read.change_delivery_address("2 Main St", now=LATER)
    stored = Order.objects.get(pk=order.pk)
    assert (stored.status, stored.completed_at, stored.delivery_address, stored.version) == (
        "completed",
        NOON,
        "2 Main St",
        3,
    )


def test_orders_are_neither_added_nor_deleted_here(staff: Client, venue: Venue) -> None:
    order = builders.order(venue)
    assert staff.get(f"{ORDERS}add/").status_code == 403
    assert staff.post(f"{ORDERS}{order.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post(ORDERS, {"action": "delete_selected", "_selected_action": [str(order.pk)], "post": "yes"})
    assert (Order.objects.count(), OrderItem.objects.count()) == (1, 1)


@pytest.mark.exhaustive
def test_the_counts_of_numbers_are_for_looking_only(
    staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    builders.order(venue, now=NOON)
    count = OrderNumber.objects.get()
    # Session, user, the timeout in its transaction, the estimate, the count, the rows, saved filters.
    with django_assert_num_queries(9):
        assert staff.get("/admin/orders/ordernumber/").status_code == 200
    path = f"/admin/orders/ordernumber/{count.pk}"
    assert staff.get(f"{path}/change/").status_code == 200
    assert staff.post(f"{path}/change/", {"last": "99"}).status_code == 403
    assert staff.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    assert staff.get("/admin/orders/ordernumber/add/").status_code == 403


# Reopening
def reopen(staff: Client, orders: list[Order], **more: str) -> Any:
    """Run the action on these orders."""
    return staff.post(ORDERS, {"action": "reopen", "_selected_action": [str(order.pk) for order in orders]} | more)


def test_reopening_asks_first_and_names_what_is_completed(staff: Client, venue: Venue) -> None:
    orders = [builders.order(venue, status=status, now=NOON) for status in ("pending", "completed", "completed")]
    page = reopen(staff, orders).content.decode()
    assert "2 orders:" in page
    assert re.findall(r"<li><bdi>(#\d of 2026-11-21)</bdi>", page) == ["#3 of 2026-11-21", "#2 of 2026-11-21"]
    assert page.count('name="_selected_action"') == 3
    assert Order.objects.filter(status="completed").count() == 2
    assert not Event.objects.filter(type="order.reopened").exists()


def test_reopening_takes_a_completion_back_and_is_written_down(staff: Client, venue: Venue) -> None:
    builders.menu(venue)
    order = builders.order(venue, status="completed", now=NOON)
    before = Order.objects.values().get(pk=order.pk)
    with time_machine.travel(LATER, tick=False):
        response = reopen(staff, [order], confirmed="Yes, reopen it")
    assert builders.messages_of(response) == ["#1 of 2026-11-21 was reopened."]
    assert Order.objects.values().get(pk=order.pk) == before | {
        "status": "pending",
        "completed_at": None,
        "version": 3,
        "updated_at": LATER,
    }
    event = Event.objects.get(type="order.reopened")
    assert (event.subject, event.actor, event.created_at) == (order.pk, "staff:staff@example.com", LATER)
    assert (event.record["status"], event.record["completed_at"], event.record["version"]) == ("pending", None, 3)
    assert event.record["items"][0]["line_total"] == "19.00"
    assert RecordCount.objects.get_total(venue, RecordCount.RecordType.ORDER, status="pending") == 1
    assert RecordCount.objects.get_total(venue, RecordCount.RecordType.ORDER, status="completed") == 0


def test_only_what_is_completed_is_reopened(staff: Client, venue: Venue) -> None:
    orders = [builders.order(venue, status=status, now=NOON) for status in ("pending", "cancelled")]
    before = list(Order.objects.order_by("number").values())
    assert "This action does not apply to any of the selected rows" in reopen(staff, orders).content.decode()
    assert sorted(builders.messages_of(reopen(staff, orders, confirmed="yes"))) == [
        "#1 of 2026-11-21: This order is pending; only a completed order can be reopened.",
        "#2 of 2026-11-21: This order is cancelled; only a completed order can be reopened.",
    ]
    assert list(Order.objects.order_by("number").values()) == before
    assert not Event.objects.filter(type="order.reopened").exists()


def test_a_reopened_order_can_be_completed_again(venue: Venue) -> None:
    order = builders.order(venue, status="completed", now=NOON)
    commands.reopen_order(order, now=LATER, actor="staff:a")
    commands.change_status(order, "completed", now=LATER, actor="staff:a")
    assert (order.status, order.completed_at, order.version) == ("completed", LATER, 4)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_reopen_an_order_one_does() -> None:
    order = builders.order(builders.venue(), status="completed", now=NOON)
    start = Barrier(2)

    def again(actor: str) -> bool:
        mine = Order.objects.select_related("venue").get(pk=order.pk)
        try:
            start.wait(timeout=10)
            commands.reopen_order(mine, now=LATER, actor=actor)
        except InvalidTransition:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(again, ["staff:a", "staff:b"])) == [False, True]
    order.refresh_from_db()
    assert (order.status, order.version) == ("pending", 3)
    assert Event.objects.filter(type="order.reopened").count() == 1


@pytest.mark.exhaustive
def test_an_order_shows_what_has_happened_to_it_the_newest_last(staff: Client, venue: Venue) -> None:
    order = builders.order(venue, now=NOON)
    builders.order(venue, status="cancelled", now=NOON)
    commands.change_status(order, "completed", now=LATER, actor="key:rk_live_abcd")
    commands.reopen_order(order, now=LATER, actor="staff:<b>ada</b>@example.com")
    page = staff.get(f"{ORDERS}{order.pk}/change/").content.decode()
    assert re.findall(r"<td>(order\.\w+)</td><td>(.*?)</td><td>(\d)</td>", page) == [
        ("order.created", "system", "1"),
        ("order.completed", "key:rk_live_abcd", "2"),
        ("order.reopened", "staff:&lt;b&gt;ada&lt;/b&gt;@example.com", "3"),
    ]


@pytest.mark.exhaustive
def test_an_order_shows_money_as_its_bill_does(staff: Client) -> None:
    venue = builders.venue(currency="JPY")
    builders.menu(venue, margherita="950")
    order = builders.order(venue)
    page = staff.get(f"{ORDERS}{order.pk}/change/").content.decode()
    for amount in ("950", "1900", "1727", "173"):
        assert f">{amount} JPY<" in page
    assert "1900.000" not in page
    assert ">1900 JPY<" in staff.get(ORDERS).content.decode()
