"""Lists of orders, and what each call costs."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from orders import commands
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
    assert answer["pagination"].pop("next_cursor")
    assert answer["pagination"] == {"page": 1, "limit": 1, "total": 2, "total_pages": 2, "has_more": True}


def numbers(api: Client, **params: str) -> list[int]:
    """The numbers of the orders on the first page, and as many are counted."""
    answer = api.get(ORDERS, params)
    assert answer.status_code == 200, answer.json()
    found = [record["number"] for record in answer.json()["data"]]
    assert answer.json()["pagination"]["total"] == len(found)
    return found


@pytest.mark.django_db
def test_orders_are_filtered_by_customer_stage_and_the_moments_of_placing_and_changing(
    api: Client, venue: Venue, other_venue: Venue
) -> None:
    builders.order(other_venue, now=NOON)
    first, second, third = (
        builders.order(venue, now=NOON + timedelta(minutes=minutes), customer_id=customer)
        for minutes, customer in ((0, "ada"), (10, "grace"), (20, "ada"))
    )
    late = NOON + timedelta(hours=2)
    commands.change_stage(first, "ready", now=late, actor="staff:ada@example.com")
    commands.change_status(second, "completed", now=late + timedelta(minutes=1), actor="staff:ada@example.com")
    assert numbers(api, customer_id="ada") == [3, 1]
    assert numbers(api, customer_id="nobody") == []
    assert numbers(api, stage="ready") == [1]
    assert numbers(api, stage="received") == [3]
    assert numbers(api, stage="handed_over") == [2]
    assert numbers(api, stage="ready", status="completed") == []
    assert numbers(api, created_from="2026-11-21T12:10:00Z") == [3, 2]
    assert numbers(api, created_to="2026-11-21T12:10:00Z") == [1]
    assert numbers(api, created_from="2026-11-21T13:10:00+01:00", created_to="2026-11-21T12:20:00Z") == [2]
    assert numbers(api, updated_since="2026-11-21T14:00:00Z") == [2, 1]
    assert numbers(api, updated_since="2026-11-21T14:00:01Z", customer_id="ada") == []
    commands.change_status(third, "cancelled", now=late, actor="staff:ada@example.com")
    assert numbers(api, stage="received") == [3]


@pytest.mark.parametrize("customer", ["a+b@example.com", "Zoë & Co", " spaced ", "顧客", "a#1?x=%20"])
@pytest.mark.django_db
def test_orders_of_a_customer_are_found_by_any_id_that_they_were_placed_with(
    api: Client, venue: Venue, other_venue: Venue, customer: str
) -> None:
    builders.order(venue, customer_id="somebody else")
    builders.order(other_venue, customer_id=customer)
    # A zero-width space is removed from both.
    body = builders.order_body(customer_id=f"{customer}\u200b")
    assert api.post(ORDERS, body, content_type="application/json").status_code == 201
    assert numbers(api, customer_id=customer) == numbers(api, customer_id=f"\u200b{customer}") == [2]


@pytest.mark.django_db
def test_a_filtered_list_has_pages_with_links_that_keep_the_filters(api: Client, venue: Venue) -> None:
    for _ in range(5):
        builders.order(venue, customer_id="ada")
    builders.order(venue, customer_id="grace")
    with costing(3):
        answer = api.get(ORDERS, {"customer_id": "ada", "limit": "2", "page": "2"})
    assert [record["number"] for record in answer.json()["data"]] == [3, 2]
    position = answer.json()["pagination"]
    assert position.pop("next_cursor")
    assert position == {"page": 2, "limit": 2, "total": 5, "total_pages": 3, "has_more": True}
    assert "customer_id=ada&limit=2&page=3>" in answer["Link"].replace("&amp;", "&")
    with costing(1):
        assert api.get(ORDERS, {"customer_id": "ada", "page": "9"}).json()["data"] == []


@pytest.mark.parametrize(
    ("params", "param", "message"),
    [
        ({"stage": "cooking"}, "stage", "This must be one of: received, accepted, preparing, ready, handed_over."),
        (
            {"updated_since": "yesterday"},
            "updated_since",
            "This must be a moment like 2026-11-21T19:30:00Z; write the + of an offset as %2B.",
        ),
        ({"created_from": "2026-02-30T12:00:00Z"}, "created_from", "There is no such moment in the calendar."),
        (
            {"created_from": "2026-11-21T12:00:00Z", "created_to": "2026-11-21T12:00:00Z"},
            "created_to",
            "`created_to` must be later than `created_from`.",
        ),
        ({"customer_id": "x" * 65}, "customer_id", "This must be at most 64 characters long."),
        (
            {"customer": "ada"},
            "customer",
            "Unknown parameter `customer`. Did you mean `customer_id`? Known: status, stage, customer_id,"
            " created_from, created_to, updated_since, limit, page, cursor.",
        ),
    ],
)
@pytest.mark.django_db
def test_an_invalid_filter_is_refused_and_named(api: Client, params: dict[str, str], param: str, message: str) -> None:
    ((name, text),) = builders.problems_of(api.get(ORDERS, params))
    assert (name, text.removeprefix(f"`{param}`: ")) == (param, message)


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
def test_handed_over_orders_are_counted_by_the_counter_of_the_completed_ones(api: Client, venue: Venue) -> None:
    for status in ("completed", "pending", "completed", "completed"):
        builders.order(venue, status=status)
    with costing(1):
        answer = api.get(ORDERS, {"stage": "handed_over", "limit": "2"})
    assert [record["number"] for record in answer.json()["data"]] == [4, 3]
    assert answer.json()["pagination"]["total"] == 3
    assert "stage=handed_over&limit=2&page=2>" in answer["Link"]
    assert numbers(api, stage="handed_over", status="pending") == []


@pytest.mark.django_db
def test_an_unchanged_list_is_304_and_any_change_has_another_tag(api: Client, venue: Venue) -> None:
    order, _ = builders.order(venue), builders.order(venue)
    first = api.get(ORDERS, {"limit": "1"})
    # Its cursor differs from call to call.
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1)):
        again = api.get(ORDERS, {"limit": "1"}, headers={"if-none-match": first["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
        assert "Content-Type" not in again
        assert api.get(ORDERS, {"limit": "1"}).content != first.content
    tags = {first["ETag"], api.get(ORDERS)["ETag"]}
    for change in (
        lambda: commands.change_stage(order, "ready", now=NOON, actor="system"),
        lambda: commands.change_status(order, "completed", now=NOON, actor="system"),
        lambda: builders.order(venue),
    ):
        change()
        answer = api.get(ORDERS, headers={"if-none-match": ", ".join(tags)})
        assert answer.status_code == 200
        tags.add(answer["ETag"])
    assert len(tags) == 5
    assert all(tag.startswith('W/"') for tag in tags)


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
