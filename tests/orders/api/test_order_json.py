"""What is told of an order: without its serializer, and the very same."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.models import Event, Venue
from framework.api.fields import StrictSerializer
from framework.api.pagination.page_number import Page
from framework.api.renderers import JSONRenderer
from orders import order_json
from orders.models import Order
from orders.serializers import NewOrder, NewStatus, OrderRecord
from reservations.serializers import NewReservation
from tests.support import builders
from tests.support.query_counts import costing

ORDERS = "/api/v1/orders"
NOON = datetime(2026, 11, 21, 12, 0, 0, 999_999, tzinfo=UTC)


def in_json(value: object) -> bytes:
    """The bytes that callers get: the database writes some of them."""
    return JSONRenderer().render(value)


@pytest.mark.parametrize(
    ("currency", "price"), [("EUR", "9.50"), ("EUR", "10"), ("JPY", "950"), ("KWD", "1.255"), ("EUR", None)]
)
@pytest.mark.django_db
def test_order_json_equals_its_serializer(currency: str, price: str | None) -> None:
    venue = builders.venue(currency=currency, timezone="Pacific/Auckland")
    if price:
        builders.menu(venue, margherita=price, water=price)
    items = [
        {"menu_item_id": "water", "quantity": 999, "notes": 'No "ice",\n\tplease\\ 🙂 </b>\u2028\x7f'},
        {"menu_item_id": "margherita", "quantity": 1},
    ]
    for status in Order.Status.values:
        builders.order(venue, status=status, now=NOON, items=items, metadata={"table": "7", "b": "é"})
    builders.order(venue, now=NOON - timedelta(days=1), delivery_address="Nyhavn 1\nCopenhagen")

    placed = list(Order.objects.of(venue).with_items().newest_first())
    expected = [dict(OrderRecord(order).data) for order in placed]
    assert in_json(order_json.read_page(venue, Page(number=1, limit=20))[:2]) == in_json((4, expected))
    assert in_json(order_json.read_page(venue, Page(number=2, limit=3))[:2]) == in_json((4, expected[3:]))
    assert [order_json.serialize_order(order) for order in placed] == expected
    assert in_json([order_json.find_record(order.public_id, venue=venue) for order in placed]) == in_json(expected)
    assert list(expected[0]) == list(order_json.serialize_order(placed[0]))
    assert list(expected[0]["items"][0]) == list(order_json.serialize_order(placed[0])["items"][0])


@pytest.mark.django_db
def test_event_of_an_order_equals_the_response_to_its_caller(api: Client, venue: Venue) -> None:
    builders.menu(venue, margherita="9.50")
    for number in (1, 2):
        body = api.post(ORDERS, builders.order_body(), content_type="application/json").json()
        assert body["number"] == number
        assert Event.objects.latest("created_at").record == body
        assert api.get(f"{ORDERS}/{body['id']}").json() == body


@pytest.mark.django_db
def test_order_of_another_venue_and_malformed_id_are_both_not_found(venue: Venue, other_venue: Venue) -> None:
    order = builders.order(other_venue)
    assert order_json.find_record(order.public_id, venue=venue) is None
    assert order_json.find_record("ord_nonsense", venue=venue) is None


@pytest.mark.django_db
def test_pages_of_one_status_are_walked_whole(api: Client, venue: Venue, other_venue: Venue) -> None:
    made = [builders.order(venue, status=status) for status in ("pending", "completed", "pending", "pending")]
    builders.order(other_venue)
    found = []
    for number, cost in ((1, 1), (2, 3), (3, 1)):
        with costing(cost):
            answer = api.get(ORDERS, {"status": "pending", "limit": "2", "page": str(number)}).json()
        assert answer["pagination"]["total"] == 3
        found += [shown["id"] for shown in answer["data"]]
    assert found == [order.public_id for order in reversed(made) if order.status == "pending"]


@pytest.mark.django_db
def test_a_status_that_there_is_not_is_refused_by_name(api: Client) -> None:
    answer = api.get(ORDERS, {"status": "eaten"})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", "status")
    assert "This must be one of: pending, completed, cancelled." in error["message"]


ORDER = {"customer_id": "c", "items": [{"menu_item_id": "a", "quantity": 1}], "payment_method": "card"}
RESERVATION = {"customer_name": "Ada", "customer_phone": "+45 33 15 10 01", "date": "2026-12-24", "time": "19:30"}
BODIES: list[tuple[type[StrictSerializer], Mapping[str, Any]]] = [
    (NewOrder, {}),
    (NewOrder, ORDER),
    (NewOrder, ORDER | {"delivery_address": " ", "metadata": {"a": "b"}}),
    (NewOrder, ORDER | {"delivery_address": None, "metadata": None}),
    (NewOrder, ORDER | {"items": [{"menu_item_id": "", "quantity": 0, "note": "x"}, 7, {"quantity": "1"}]}),
    (NewOrder, ORDER | {"items": []}),
    (NewOrder, ORDER | {"items": {}}),
    (NewOrder, ORDER | {"items": [{}] * 101}),
    (NewOrder, ORDER | {"items": [{"menu_item_id": "a\tb", "quantity": 1000, "notes": "x" * 501}]}),
    (NewOrder, ORDER | {"payment_method": "Card!", "custmer_id": "x", "customer_id": 7}),
    (NewStatus, {"status": "completed"}),
    (NewStatus, {"status": "eaten"}),
    (NewReservation, RESERVATION | {"party_size": 4}),
    (NewReservation, RESERVATION | {"party_size": 0, "time": "24:00", "date": "2026-02-30"}),
    (NewReservation, {"customer_name": "Ada", "date": "2026-12-24", "time": "19:30", "party_size": 2}),
]


@pytest.mark.parametrize(("shape", "body"), BODIES, ids=map(str, range(len(BODIES))))
def test_a_body_is_read_as_a_serializer_that_is_made_for_it_reads_it(
    shape: type[StrictSerializer], body: Mapping[str, Any]
) -> None:
    form: serializers.Serializer[Any] = shape(data=body)
    # What one body leaves behind would show with the next.
    for _ in range(2):
        if form.is_valid():
            assert shape.read(body) == form.validated_data
        else:
            with pytest.raises(ValidationError) as refused:
                shape.read(body)
            assert refused.value.detail == form.errors
            assert refused.value.get_codes() == ValidationError(form.errors).get_codes()
