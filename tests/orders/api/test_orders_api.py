"""The orders' part of the management API."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client

from accounts.models import Venue
from orders.models import Order, OrderItem
from tests.support import builders

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, 0, 987654, tzinfo=UTC)
ID = re.compile(r"ord_[0-7][0-9a-hjkmnp-tv-z]{25}")


def post(api: Client, **changes: Any) -> Any:
    return api.post(ORDERS, builders.order_body(**changes), content_type="application/json")


def move(api: Client, public_id: str, status: Any) -> Any:
    return api.put(f"{ORDERS}/{public_id}/status", {"status": status}, content_type="application/json")


def problems(response: Any) -> list[tuple[str, str]]:
    """All that is wrong, of which nothing was stored."""
    assert not Order.objects.exists()
    assert not OrderItem.objects.exists()
    return builders.problems_of(response)


# The record
@pytest.mark.django_db
def test_an_order_is_answered_as_its_whole_record(api: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        response = post(
            api,
            items=[
                {"menu_item_id": "margherita", "quantity": 2, "notes": "no basil\nbut oregano"},
                {"menu_item_id": "margherita", "quantity": 999},
            ],
            delivery_address="1 Main St\n2nd floor",
            metadata={"table": "7", "note": ""},
        )
    record = response.json()
    assert response.status_code == 201
    assert ID.fullmatch(record["id"])
    unpriced: dict[str, Any] = {"name": None, "modifiers": [], "unit_price": None, "line_total": None}
    line = {"menu_item_id": "margherita"} | unpriced
    assert record == {
        "id": record["id"],
        "object": "order",
        "number": 1,
        "business_date": "2026-11-21",
        "status": "pending",
        "stage": "received",
        "customer_id": "cust_123",
        "items": [
            line | {"quantity": 2, "notes": "no basil\nbut oregano"},
            line | {"quantity": 999, "notes": ""},
        ],
        "delivery_address": "1 Main St\n2nd floor",
        "fulfilment": {"type": "delivery", "requested_at": None, "table": None, "contact": None},
        "channel": None,
        "payment_method": "card",
        "currency": "EUR",
        "subtotal": None,
        "tax": None,
        "charges": [],
        "tip": None,
        "total": None,
        "payment": None,
        "metadata": {"table": "7", "note": ""},
        "version": 1,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
        "promised_at": None,
        "accepted_at": None,
        "preparing_at": None,
        "ready_at": None,
        "completed_at": None,
        "cancelled_at": None,
    }
    assert (response["Location"], response["ETag"]) == (f"http://127.0.0.1:8000{ORDERS}/{record['id']}", '"1"')


@pytest.mark.django_db
def test_post_get_put_and_the_list_answer_the_same_record(api: Client) -> None:
    record = post(api, delivery_address=None, metadata={}).json()
    got = api.get(f"{ORDERS}/{record['id']}")
    assert (got.json(), got["ETag"]) == (record, '"1"')
    assert api.get(ORDERS).json()["data"] == [record]
    assert move(api, record["id"], "pending").json() == record


@pytest.mark.parametrize("address", ["", " \n"])
@pytest.mark.django_db
def test_an_address_that_is_empty_is_none(api: Client, address: str) -> None:
    assert post(api, delivery_address=address).json()["delivery_address"] is None
    assert Order.objects.get().delivery_address is None


@pytest.mark.django_db
def test_a_completed_order_says_when(api: Client) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        record = post(api).json()
        clock.shift(timedelta(hours=1))
        response = move(api, record["id"], "completed")
    assert response["ETag"] == '"2"'
    assert response.json() == record | {
        "status": "completed",
        "stage": "handed_over",
        "version": 2,
        "updated_at": "2026-11-21T13:00:00Z",
        "completed_at": "2026-11-21T13:00:00Z",
    }


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("customer_id", "c"),
        ("customer_id", "ü" * 64),
        ("customer_id", " spaced "),
        ("delivery_address", "x" * 500),
        ("delivery_address", "🍕\tline\r\nline"),
        ("delivery_address", None),
        ("payment_method", "usdc"),
        ("payment_method", "a" * 40),
        ("payment_method", "bank_transfer-2"),
        ("metadata", {}),
        ("metadata", {"k" * 40: "v" * 500}),
        ("metadata", {str(number): "x" for number in range(50)}),
    ],
)
@pytest.mark.django_db
def test_what_is_accepted_is_echoed_as_it_was_sent(api: Client, field: str, value: Any) -> None:
    response = post(api, **{field: value})
    assert response.status_code == 201
    assert response.json()[field] == value
    assert api.get(f"{ORDERS}/{response.json()['id']}").json()[field] == value


@pytest.mark.django_db
def test_a_hundred_lines_are_accepted(api: Client) -> None:
    items = [{"menu_item_id": "m" * 64, "quantity": 1, "notes": "n" * 500} for _ in range(100)]
    record = post(api, items=items).json()
    assert [(item["menu_item_id"], item["quantity"], item["notes"]) for item in record["items"]] == [
        ("m" * 64, 1, "n" * 500)
    ] * 100


# Refusals
@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({"customer_id": ""}, "customer_id", "This must not be empty."),
        ({"customer_id": " "}, "customer_id", "This must not be empty."),
        ({"customer_id": "x" * 65}, "customer_id", "This must be at most 64 characters long."),
        ({"customer_id": 5}, "customer_id", "This must be a string."),
        ({"customer_id": None}, "customer_id", "This must not be null."),
        ({"customer_id": "a\n"}, "customer_id", "This holds a control character."),
        ({"customer_id": "a\x7fb"}, "customer_id", "This holds a control character."),
        ({"items": []}, "items", "This must have at least 1 element."),
        ({"items": None}, "items", "This must not be null."),
        ({"items": {}}, "items", "This must be an array."),
        ({"items": "margherita"}, "items", "This must be an array."),
        ({"items": ["margherita"]}, "items[0]", "This must be an object."),
        ({"items": [None]}, "items[0]", "This must not be null."),
        ({"items": [{"quantity": 1}]}, "items[0].menu_item_id", "This is required."),
        ({"items": [{"menu_item_id": "m"}]}, "items[0].quantity", "This is required."),
        ({"payment_method": "Card"}, "payment_method", "This must be a label of small letters, digits, _ and -,"),
        ({"payment_method": "1card"}, "payment_method", "This must be a label"),
        ({"payment_method": "card\n"}, "payment_method", "This holds a control character."),
        ({"payment_method": "a" * 41}, "payment_method", "This must be"),
        ({"payment_method": "kárd"}, "payment_method", "This must be a label"),
        ({"delivery_address": "x" * 501}, "delivery_address", "This must be at most 500 characters long."),
        ({"delivery_address": "a\x00b"}, "delivery_address", "Text holds a NUL"),
        ({"metadata": None}, "metadata", "This must not be null."),
        ({"metadata": []}, "metadata", "This must be an object of strings."),
        ({"metadata": {"a\n": "x"}}, "metadata", "`a\n` or its text holds a control character."),
        ({"metadata": {"a": 1}}, "metadata", "The text of `a` must be a string of at most 500 characters."),
        ({"metadata": {"a": "x" * 501}}, "metadata", "The text of `a` must be a string"),
        ({"metadata": {"": "x"}}, "metadata", "The key `` must be 1 to 40 characters long."),
        ({"metadata": {"k" * 41: "x"}}, "metadata", f"The key `{'k' * 40}` must be 1 to 40 characters long."),
        ({"metadata": {str(n): "" for n in range(51)}}, "metadata", "This must have at most 50 keys."),
        (
            {"custmer_id": "x"},
            "custmer_id",
            "Unknown field `custmer_id`. Did you mean `customer_id`? Known: customer_id,",
        ),
        (
            {"id": "x"},
            "id",
            "Unknown field `id`. Known: customer_id, items, delivery_address, payment_method, fulfilment, tip,",
        ),
        ({"status": "completed"}, "status", "Unknown field `status`."),
    ],
)
@pytest.mark.django_db
def test_a_wrong_order_is_refused_by_name(api: Client, changes: dict[str, Any], param: str, message: str) -> None:
    ((found, note),) = problems(post(api, **changes))
    assert (found, note[: len(message)]) == (param, message)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({"menu_item_id": ""}, "menu_item_id", "This must not be empty."),
        ({"menu_item_id": 5}, "menu_item_id", "This must be a string."),
        ({"menu_item_id": "x" * 65}, "menu_item_id", "This must be at most 64 characters long."),
        ({"quantity": "2"}, "quantity", "This must be an integer."),
        ({"quantity": 2.0}, "quantity", "This must be an integer."),
        ({"quantity": True}, "quantity", "This must be an integer."),
        ({"quantity": None}, "quantity", "This must not be null."),
        ({"quantity": 0}, "quantity", "This must be at least 1."),
        ({"quantity": -1}, "quantity", "This must be at least 1."),
        ({"quantity": 1000}, "quantity", "This must be at most 999."),
        ({"quantity": 10**19}, "quantity", "This must be at most 999."),
        ({"notes": None}, "notes", "This must not be null."),
        ({"notes": "x" * 501}, "notes", "This must be at most 500 characters long."),
        ({"notes": "\x1b[31m"}, "notes", "This holds a control character."),
        ({"note": "no basil"}, "note", "Unknown field `note`. Did you mean `notes`?"),
    ],
)
@pytest.mark.django_db
def test_a_wrong_line_is_refused_by_its_place(api: Client, changes: dict[str, Any], param: str, message: str) -> None:
    good = {"menu_item_id": "margherita", "quantity": 2}
    ((found, text),) = problems(post(api, items=[good, good | changes]))
    assert (found, text[: len(message)]) == (f"items[1].{param}", message)


@pytest.mark.parametrize("field", ["customer_id", "items", "payment_method"])
@pytest.mark.django_db
def test_what_is_required_is_named(api: Client, field: str) -> None:
    body = builders.order_body()
    del body[field]
    response = api.post(ORDERS, body, content_type="application/json")
    assert problems(response) == [(field, "This is required.")]


@pytest.mark.django_db
def test_all_problems_are_reported_at_once(api: Client) -> None:
    body = {"custmer_id": "x", "items": [{"quantity": 0}, 5], "payment_method": "card", "metadata": 7}
    found = problems(api.post(ORDERS, body, content_type="application/json"))
    assert [param for param, _ in found] == [
        "custmer_id",
        "customer_id",
        "items[0].menu_item_id",
        "items[0].quantity",
        "items[1]",
        "metadata",
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [101, 100_000])
@pytest.mark.django_db
def test_too_many_lines_are_refused_before_they_are_read(api: Client, count: int) -> None:
    assert problems(post(api, items=[{}] * count)) == [("items", "This must have at most 100 elements.")]


# One order
@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["get", "put"])
@pytest.mark.django_db
def test_unknown_malformed_and_foreign_ids_are_alike(api: Client, other_venue: Venue, method: str) -> None:
    foreign = builders.order(other_venue)
    ids = [
        foreign.public_id,
        "ord_01jd5k3v8rf8hb2m0c9t6w4y7z",
        foreign.public_id.upper(),
        foreign.public_id.replace("ord_", "res_"),
        str(foreign.pk),
        "ord_81jd5k3v8rf8hb2m0c9t6w4y7z",
        "ord_",
        "1",
        "' OR 1=1 --",
        "x" * 5000,
        "%00",
        "ord_01jd5k3v8rf8hb2m0c9t6w4y7%0a",
    ]
    bodies = set()
    for public_id in ids:
        # What the body says is not judged before the order is found.
        response = (
            api.get(f"{ORDERS}/{public_id}") if method == "get" else move(api, public_id, {"not": "even a status"})
        )
        assert (public_id, response.status_code) == (public_id, 404)
        bodies.add(response.content.decode().replace(response["X-Request-Id"], "req"))
    assert bodies == {
        '{"error":{"code":"not_found","message":"There is no such order.",'
        '"param":null,"request_id":"req","details":[]}}'
    }
    foreign.refresh_from_db()
    assert foreign.status == "pending"


@pytest.mark.parametrize(
    "status", ["done", "Completed", "COMPLETED", "", " completed", 1, None, True, ["completed"], {}]
)
@pytest.mark.django_db
def test_a_status_that_does_not_exist_is_refused(api: Client, venue: Venue, status: Any) -> None:
    order = builders.order(venue)
    error = move(api, order.public_id, status).json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", "status")
    order.refresh_from_db()
    assert (order.status, order.version) == ("pending", 1)


@pytest.mark.django_db
def test_unknown_status_error_lists_the_known_statuses(api: Client, venue: Venue) -> None:
    error = move(api, builders.order(venue).public_id, "done").json()["error"]
    assert error["message"] == "`status`: This must be one of: pending, completed, cancelled."


@pytest.mark.django_db
def test_a_move_carries_a_status_and_nothing_else(api: Client, venue: Venue) -> None:
    path = f"{ORDERS}/{builders.order(venue).public_id}/status"
    nothing = api.put(path, {}, content_type="application/json").json()["error"]
    assert (nothing["code"], nothing["param"]) == ("invalid_request", "status")
    more = api.put(path, {"status": "completed", "reason": "eaten"}, content_type="application/json").json()["error"]
    assert (more["code"], more["param"]) == ("invalid_request", "reason")


@pytest.mark.parametrize(
    ("status", "to"),
    [("completed", "pending"), ("completed", "cancelled"), ("cancelled", "pending"), ("cancelled", "completed")],
)
@pytest.mark.django_db
def test_a_final_status_is_final(api: Client, venue: Venue, status: str, to: str) -> None:
    order = builders.order(venue, status=status)
    response = move(api, order.public_id, to)
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"]) == ("invalid_transition", "status")
    assert error["message"] == f"This order is {status}, which is final."
    assert api.get(f"{ORDERS}/{order.public_id}").json()["status"] == status


@pytest.mark.parametrize("status", ["pending", "completed", "cancelled"])
@pytest.mark.django_db
def test_the_status_that_an_order_has_changes_nothing(api: Client, venue: Venue, status: str) -> None:
    order = builders.order(venue, status=status)
    before = api.get(f"{ORDERS}/{order.public_id}").json()
    response = move(api, order.public_id, status)
    assert (response.status_code, response.json()) == (200, before)


@pytest.mark.django_db(transaction=True)
def test_request_for_an_order_locked_too_long_is_asked_to_retry() -> None:
    venue = builders.venue()
    api, order = builders.client(venue), builders.order(venue)
    holder = connection.copy()
    try:
        with holder.cursor() as held, connection.cursor() as ours:
            held.execute("BEGIN")
            held.execute("SELECT 1 FROM orders_order WHERE id = %s FOR UPDATE", [order.pk])
            ours.execute("SET lock_timeout = '20ms'")
            response = move(api, order.public_id, "completed")
    finally:
        holder.close()
        connection.close()
    assert (response.status_code, response.json()["error"]["code"]) == (503, "service_unavailable")
    assert response["Retry-After"] == "2"
    assert move(api, order.public_id, "completed").status_code == 200
