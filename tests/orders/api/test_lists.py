"""Lists of orders, and what each call costs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import Venue
from tests.support import builders
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.django_db
def test_the_newest_order_is_first_also_within_a_moment(api: Client, venue: Venue) -> None:
    old = builders.order(venue, now=NOON - timedelta(days=1))
    twins = [builders.order(venue, now=NOON) for _ in range(3)]
    expected = [order.public_id for order in (*reversed(twins), old)]
    assert [record["id"] for record in api.get(ORDERS).json()["data"]] == expected


@pytest.mark.django_db
def test_a_filtered_list_counts_what_matches(api: Client, venue: Venue) -> None:
    for status in ("pending", "completed", "completed", "cancelled"):
        builders.order(venue, status=status)
    answer = api.get(ORDERS, {"status": "completed", "limit": "1"}).json()
    assert [record["status"] for record in answer["data"]] == ["completed"]
    assert answer["pagination"] == {"page": 1, "limit": 1, "total": 2, "total_pages": 2, "has_more": True}


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.django_db
def test_a_list_costs_one_query_however_long(api: Client, venue: Venue, count: int) -> None:
    for _ in range(count):
        builders.order(venue, items=[{"menu_item_id": str(number), "quantity": 1} for number in range(5)])
    # The tally and the orders with their lines.
    with costing(1):
        answer = api.get(ORDERS).json()
    assert sum(len(record["items"]) for record in answer["data"]) == 5 * count


@pytest.mark.django_db
def test_what_each_call_costs(api: Client, venue: Venue) -> None:
    order = builders.order(venue)
    # The menu, of which there is none; the order with all that is written down of it.
    with costing(2):
        api.post(ORDERS, builders.order_body(), content_type="application/json")
    # The order with its lines.
    with costing(1):
        api.get(f"{ORDERS}/{order.public_id}")
    # The order, its lines, the conditional update, what it left and the event, between a savepoint and its release.
    with costing(7):
        api.put(f"{ORDERS}/{order.public_id}/status", {"status": "completed"}, content_type="application/json")
