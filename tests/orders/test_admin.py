"""The back office of orders: the same moves as in the API, and no way to rewrite what was ordered."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from orders.models import Order, OrderItem, OrderNumber
from tests import make

ORDERS = "/admin/orders/order/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def test_a_list_of_orders_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            make.order(make.venue(), now=NOON)
        # Session, user, the count, the orders, and the days of the hierarchy.
        with django_assert_num_queries(6):
            assert staff.get(ORDERS).status_code == 200


@pytest.mark.parametrize("query", ["q=cust_123", "q=trattoria", "status__exact=pending", "business_date__year=2026"])
def test_orders_are_found(staff: Client, venue: Venue, query: str) -> None:
    make.order(venue, now=NOON)
    assert "1 order" in staff.get(f"{ORDERS}?{query}").content.decode()


def test_an_order_opens_with_its_lines(
    staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    order = make.order(venue, items=[{"menu_item_id": f"dish-{number}", "quantity": 1} for number in range(20)])
    # The model's content type, which a process reads once.
    ContentType.objects.get_for_model(Order)
    # Session, user, the order, its venue, its lines.
    with django_assert_num_queries(5):
        response = staff.get(f"{ORDERS}{order.pk}/change/")
    assert response.status_code == 200
    assert "dish-19" in response.content.decode()


def test_actions_move_what_may_move_and_say_what_may_not(staff: Client, venue: Venue) -> None:
    orders = [make.order(venue, status=status, now=NOON) for status in ("pending", "completed", "cancelled")]
    response = staff.post(ORDERS, {"action": "complete", "_selected_action": [str(order.pk) for order in orders]})
    assert sorted(make.messages_of(response)) == [
        "#1 of 2026-11-21 is completed.",
        "#2 of 2026-11-21 is completed.",
        "#3 of 2026-11-21: This order is cancelled, which is final.",
    ]
    response = staff.post(ORDERS, {"action": "cancel", "_selected_action": [str(orders[0].pk)]})
    assert make.messages_of(response)[-1] == "#1 of 2026-11-21: This order is completed, which is final."
    statuses = [Order.objects.get(pk=order.pk).status for order in orders]
    assert statuses == ["completed", "completed", "cancelled"]


def test_an_address_that_is_mended_is_a_new_version_and_nothing_else_changes(staff: Client, venue: Venue) -> None:
    order = make.order(venue, now=NOON, metadata={"table": "7"})
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


def test_saving_an_order_unchanged_is_no_new_version(staff: Client, venue: Venue) -> None:
    order = make.order(venue, now=NOON, delivery_address="1 Main St")
    lines = {"items-TOTAL_FORMS": "0", "items-INITIAL_FORMS": "0"}
    assert staff.post(f"{ORDERS}{order.pk}/change/", lines | {"delivery_address": "1 Main St"}).status_code == 302
    order.refresh_from_db()
    assert (order.version, order.updated_at) == (1, NOON)


def test_mending_an_address_does_not_write_over_a_move_that_came_between(staff: Client, venue: Venue) -> None:
    order = make.order(venue, now=NOON)
    read = Order.objects.get(pk=order.pk)
    order.move_to("completed", now=NOON)
    read.deliver_to("2 Main St", now=LATER)
    stored = Order.objects.get(pk=order.pk)
    assert (stored.status, stored.completed_at, stored.delivery_address, stored.version) == (
        "completed",
        NOON,
        "2 Main St",
        3,
    )


def test_orders_are_neither_added_nor_deleted_here(staff: Client, venue: Venue) -> None:
    order = make.order(venue)
    assert staff.get(f"{ORDERS}add/").status_code == 403
    assert staff.post(f"{ORDERS}{order.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post(ORDERS, {"action": "delete_selected", "_selected_action": [str(order.pk)], "post": "yes"})
    assert (Order.objects.count(), OrderItem.objects.count()) == (1, 1)


def test_the_counts_of_numbers_are_for_looking_only(
    staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.order(venue, now=NOON)
    count = OrderNumber.objects.get()
    # Session, user, two counts, the rows.
    with django_assert_num_queries(5):
        assert staff.get("/admin/orders/ordernumber/").status_code == 200
    path = f"/admin/orders/ordernumber/{count.pk}"
    assert staff.get(f"{path}/change/").status_code == 200
    assert staff.post(f"{path}/change/", {"last": "99"}).status_code == 403
    assert staff.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    assert staff.get("/admin/orders/ordernumber/add/").status_code == 403
