"""How an order reaches the guest: type, time, table, contact, tip, charges and channel."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Venue
from framework.errors import InvalidRequest
from orders import commands
from orders.models import ChargeRule, MenuItem, Order
from tests.support import builders

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CONTACT = {"name": "Ada", "phone": "+15550100999", "email": "ada@example.com"}


@pytest.fixture
def api(venue: Venue) -> Client:
    return builders.client(venue)


def post(api: Client, **fields: Any) -> Any:
    with time_machine.travel(NOON, tick=False):
        return api.post("/api/v1/orders", builders.order_body(**fields), content_type="application/json")


def test_a_fulfilment_is_answered_as_it_was_sent(api: Client) -> None:
    sent = {"type": "dine_in", "requested_at": "2026-11-21T13:30:00+01:00", "table": "7", "contact": CONTACT}
    record = post(api, fulfilment=sent, channel="pos", tip="2.5").json()
    assert record["fulfilment"] == sent | {"requested_at": "2026-11-21T12:30:00Z"}
    assert (record["channel"], record["tip"], record["promised_at"]) == ("pos", "2.50", "2026-11-21T12:30:00Z")
    assert api.get(f"/api/v1/orders/{record['id']}").json() == record


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "pickup"),
        ({"delivery_address": "1 Main St"}, "delivery"),
        ({"delivery_address": "1 Main St", "fulfilment": {"type": "delivery"}}, "delivery"),
        ({"fulfilment": {"type": "pickup"}}, "pickup"),
        ({"fulfilment": {"type": "dine_in"}}, "dine_in"),
    ],
)
def test_the_type_follows_from_the_address_unless_it_is_sent(
    api: Client, fields: dict[str, Any], expected: str
) -> None:
    nothing = {"requested_at": None, "table": None, "contact": None}
    assert post(api, **fields).json()["fulfilment"] == {"type": expected} | nothing


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"fulfilment": {"type": "delivery"}}, "delivery_address"),
        ({"fulfilment": {"type": "pickup"}, "delivery_address": "1 Main St"}, "fulfilment.type"),
        ({"fulfilment": {"type": "dine_in"}, "delivery_address": "1 Main St"}, "fulfilment.type"),
        ({"fulfilment": {"type": "pickup", "table": "7"}}, "fulfilment.table"),
        ({"fulfilment": {"type": "drone"}}, "fulfilment.type"),
        ({"fulfilment": {}}, "fulfilment.type"),
        ({"fulfilment": None}, "fulfilment"),
        ({"fulfilment": {"type": "pickup", "requested_at": "2026-11-21 13:30"}}, "fulfilment.requested_at"),
        ({"fulfilment": {"type": "pickup", "requested_at": "2026-11-21T11:59:59Z"}}, "fulfilment.requested_at"),
        ({"fulfilment": {"type": "pickup", "requested_at": "2027-11-22T12:00:00Z"}}, "fulfilment.requested_at"),
        ({"fulfilment": {"type": "pickup", "contact": {"phone": "555"}}}, "fulfilment.contact.phone"),
        ({"fulfilment": {"type": "pickup", "contact": {"email": "ada"}}}, "fulfilment.contact.email"),
        ({"fulfilment": {"type": "pickup", "contact": {"fax": "1"}}}, "fulfilment.contact.fax"),
        ({"tip": "2.505"}, "tip"),
        ({"tip": "-1"}, "tip"),
        ({"tip": 2}, "tip"),
        ({"tip": "10000000"}, "tip"),
        ({"channel": "My POS"}, "channel"),
    ],
)
def test_a_wrong_fulfilment_is_refused_by_its_name(api: Client, fields: dict[str, Any], param: str) -> None:
    response = post(api, **fields)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert Order.objects.count() == 0


def test_a_tip_is_added_to_the_total_and_never_taxed(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    record = post(api, tip="3.00").json()
    assert [record[name] for name in ("subtotal", "tax", "tip", "total")] == ["17.27", "1.73", "3.00", "22.00"]


def test_charges_follow_the_rules_of_the_venue(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    rules = [
        {"type": "service_charge", "name": "Service", "percent": Decimal("12.5"), "fulfilments": ["dine_in"]},
        {"type": "delivery_fee", "name": "Delivery", "amount": Decimal("3.90"), "fulfilments": ["delivery"]},
        {"type": "packaging_fee", "name": "Box", "amount": Decimal("0.30"), "tax_percent": Decimal(20)},
        {"type": "fee", "name": "Small order", "amount": Decimal(2), "free_from": Decimal(19)},
    ]
    for position, rule in enumerate(rules):
        ChargeRule.objects.create(venue=venue, position=position, **rule)
    record = post(api, fulfilment={"type": "dine_in"}).json()
    assert record["charges"] == [
        {"name": "Service", "type": "service_charge", "amount": "2.38"},
        {"name": "Box", "type": "packaging_fee", "amount": "0.30"},
    ]
    assert [record[name] for name in ("subtotal", "tax", "total")] == ["19.90", "1.78", "21.68"]
    one = [{"menu_item_id": "margherita", "quantity": 1}]
    record = post(api, items=one, delivery_address="1 Main St", tip="1.00").json()
    assert [charge["name"] for charge in record["charges"]] == ["Delivery", "Box", "Small order"]
    assert [record[name] for name in ("subtotal", "tax", "tip", "total")] == ["14.79", "0.91", "1.00", "16.70"]
    Venue.objects.update(prices_include_tax=False)
    record = post(api, items=one).json()
    assert [record[name] for name in ("subtotal", "tax", "total")] == ["11.80", "1.01", "12.81"]
    assert api.get("/api/v1/orders").json()["data"][0] == record


def test_an_order_without_prices_has_no_charges(api: Client, venue: Venue) -> None:
    ChargeRule.objects.create(venue=venue, type="fee", name="Box", amount=Decimal(1))
    record = post(api, tip="1.00").json()
    assert (record["charges"], record["tip"], record["total"]) == ([], "1.00", None)


def test_takeaway_has_a_tax_rate_of_its_own(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    MenuItem.objects.update(tax_percent=Decimal(19), takeaway_tax_percent=Decimal(7))
    taxes = [
        post(api, **fields).json()["tax"]
        for fields in ({"fulfilment": {"type": "dine_in"}}, {}, {"delivery_address": "1 Main St"})
    ]
    assert taxes == ["3.03", "1.24", "1.24"]


def test_an_order_at_a_table_gets_no_address(api: Client, venue: Venue) -> None:
    record = post(api, fulfilment={"type": "dine_in", "table": "7"}).json()
    order = Order.objects.of(venue).get()
    with pytest.raises(InvalidRequest, match="served at a table"):
        commands.change_delivery_address(order, "1 Main St", now=timezone.now(), actor="staff:ada@example.com")
    assert api.get(f"/api/v1/orders/{record['id']}").json() == record


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_time_at_the_end_of_the_calendar_is_refused(moment: str) -> None:
    for zone in ("Europe/Rome", "America/New_York"):
        api = builders.client(builders.venue(timezone=zone))
        response = post(api, fulfilment={"type": "pickup", "requested_at": moment})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "fulfilment.requested_at")
