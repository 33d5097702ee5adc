"""Checkout sessions: what a dish costs, when it can be had, and the order that comes of it."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Event
from orders.models import CheckoutSession, Menu, Order, OrderingSettings
from tests.catalogue import builders as places
from tests.catalogue.ucp.agents import BUYER, CASH, Agent, handler_of, line, new_body, pizzeria
from tests.support import builders

pytestmark = pytest.mark.django_db


def codes(checkout: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The errors of a checkout: what, and where."""
    return [(each["code"], each.get("path")) for each in checkout.get("messages", []) if each["type"] == "error"]


def totals(checkout: dict[str, Any]) -> dict[str, int]:
    return {entry["type"]: entry["amount"] for entry in checkout["totals"]}


def placed() -> Order:
    return Order.objects.with_items().select_related("venue").get()


# Prices
def test_a_checkout_has_the_prices_of_the_menu_and_is_ready_at_once(agent: Agent, menu: Menu) -> None:
    checkout = agent.create(menu.venue, line("margherita", "large", "olives", quantity=2, note="Well done"))
    assert (checkout["status"], checkout["currency"]) == ("ready_for_complete", "EUR")
    assert checkout["food_establishment"] == {
        "id": menu.venue.public_id,
        "name": "Pizzeria",
        "address": {"street_address": "Via Roma 1, Roma"},
    }
    (item,) = checkout["line_items"]
    assert item["dish"] == {
        "id": "margherita",
        "title": "Margherita",
        "price": 950,
        "modifications": [
            {"id": "large", "title": "Large", "price": 300},
            {"id": "olives", "title": "Olives", "price": 150},
        ],
        "note": "Well done",
    }
    assert item["totals"] == [{"type": "subtotal", "amount": 2800}, {"type": "total", "amount": 2800}]
    assert checkout["totals"] == [
        {"type": "subtotal", "display_text": "Subtotal", "amount": 2800},
        {"type": "total", "display_text": "Total, with tax", "amount": 2800},
    ]
    allergens = [each for each in checkout["messages"] if each["code"] == "allergens"]
    assert [(each["content"], each["path"], each["presentation"]) for each in allergens] == [
        ("Contains: cereals containing gluten, milk", "$.line_items[0]", "disclosure")
    ]


def test_charges_taxes_and_tips_are_entries_of_the_totals(agent: Agent, menu: Menu) -> None:
    venue = menu.venue
    venue.prices_include_tax = False
    venue.save()
    venue.charge_rules.create(name="Bag", type="packaging_fee", amount="0.50")
    checkout = agent.create(venue, line("margherita", quantity=2), tip={"selected_option_id": "tip_10"})
    # 19.00, a bag, 10 percent tax on the pizzas, and a tenth of all that.
    assert totals(checkout) == {"subtotal": 1900, "fee": 50, "tax": 190, "tip": 214, "total": 2354}
    assert checkout["tip"]["options"][0] == {"id": "tip_5", "unit": "percentage", "amount": 5}
    custom = agent.update(checkout["id"], new_body(venue, tip={"custom_amount": 300})).json()
    assert totals(custom) == {"subtotal": 950, "fee": 50, "tax": 95, "tip": 300, "total": 1395}
    agent.complete(checkout["id"])
    order = placed()
    assert (order.tip, order.total) == (Decimal(3), Decimal("13.95"))


def test_what_a_modification_takes_off_is_a_discount(agent: Agent, menu: Menu) -> None:
    checkout = agent.create(menu.venue, line("margherita", "small", quantity=2))
    assert totals(checkout) == {"subtotal": 1900, "items_discount": -200, "total": 1700}
    assert checkout["line_items"][0]["dish"]["modifications"] == [{"id": "small", "title": "Small", "price": 0}]


def test_modifications_of_modifications_stand_in_one_list(agent: Agent, menu: Menu) -> None:
    checkout = agent.create(menu.venue, line("menu", "cola", "no-ice"))
    chosen = checkout["line_items"][0]["dish"]["modifications"]
    assert [(each["id"], each["price"]) for each in chosen] == [("cola", 0), ("no-ice", 20)]
    assert agent.complete(checkout["id"]).json()["line_items"][0]["dish"]["modifications"] == chosen
    assert placed().items.get().modifiers[0]["modifiers"][0]["id"] == "no-ice"


def test_yen_have_no_minor_unit(agent: Agent) -> None:
    venue = builders.venue("Izakaya", timezone="Asia/Tokyo", currency="JPY")
    OrderingSettings.objects.create(venue=venue, is_page_open=True)
    builders.menu(venue, margherita="950")
    assert totals(agent.create(venue))["total"] == 950


# The order
def test_an_order_that_is_paid_at_the_venue_is_placed_once(agent: Agent, menu: Menu) -> None:
    venue = menu.venue
    checkout = agent.create(venue, buyer=BUYER | {"email": "ada@example.com"})
    assert handler_of(checkout, "pay_at_venue")["available_instruments"] == [{"type": "cash"}, {"type": "card"}]
    completed = agent.complete(checkout["id"], CASH | {"type": "card"}).json()
    order = placed()
    assert (completed["status"], completed["order"]["id"], completed["order"]["label"]) == (
        "completed",
        order.public_id,
        "#1",
    )
    assert (order.channel, order.payment_method, order.status, order.fulfilment) == (
        *("agent", "card", "pending"),
        "pickup",
    )
    assert (order.contact_name, order.contact_phone, order.contact_email) == (
        "Ada Lovelace",
        "+390612345678",
        "ada@example.com",
    )
    assert completed["payment"]["instruments"] == [
        {"id": "i1", "handler_id": "pay_at_venue", "type": "card", "selected": True}
    ]
    # The order can be looked up: by the guest's link, by the session, and by the venue.
    page = Client().get(completed["order"]["tracking_url"].removeprefix("http://127.0.0.1:8000"))
    assert page.status_code == 200
    assert b"Pizzeria" in page.content
    assert agent.get(checkout["id"])["order"] == completed["order"]
    record = builders.client(venue).get(f"/api/v1/orders/{order.public_id}").json()
    assert record["channel"] == "agent"
    assert [event.type for event in Event.objects.filter(subject=order.pk)] == ["order.created"]
    # The contact is in the order only.
    assert "buyer" not in CheckoutSession.objects.get().content


def test_a_repeated_completion_gets_the_order_and_another_one_a_conflict(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    first, again = agent.complete(session, key="k1"), agent.complete(session, key="k1")
    # An answer is remembered without the contact; `get` has it.
    assert (again.status_code, again.json() | {"buyer": first.json()["buyer"]}) == (200, first.json())
    assert "buyer" not in again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    other = agent.complete(session, key="k2")
    assert (other.status_code, other.json()["code"]) == (409, "checkout_completed")
    reused = agent.complete(session, CASH | {"type": "card"}, key="k1")
    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")
    assert Order.objects.count() == 1


def test_without_a_key_the_same_request_is_a_repetition(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    first, again = agent.complete(session), agent.complete(session)
    assert (again.status_code, again.json()["order"]) == (200, first.json()["order"])
    assert agent.complete(session, CASH | {"type": "card"}).status_code == 409
    assert Order.objects.count() == 1


def test_create_update_and_cancel_are_repeated_by_their_key(agent: Agent, menu: Menu) -> None:
    first, again = agent.create(menu.venue, key="a"), agent.create(menu.venue, key="a")
    # An answer is remembered without the contact.
    assert first == again | {"buyer": BUYER}
    assert "buyer" not in again
    session = first["id"]
    body = new_body(menu.venue, line("acqua", quantity=2))
    updated = agent.update(session, body, key="b").json()
    assert updated == agent.update(session, body, key="b").json() | {"buyer": BUYER}
    assert agent.update(session, new_body(menu.venue), key="b").status_code == 409
    assert agent.cancel(session, key="c").json() == agent.cancel(session, key="c").json()
    assert (CheckoutSession.objects.count(), CheckoutSession.objects.get().state) == (1, "canceled")


def test_an_update_replaces_what_it_sends_and_keeps_the_rest(agent: Agent, menu: Menu) -> None:
    checkout = agent.create(menu.venue, tip={"selected_option_id": "tip_5"})
    body = {"line_items": [line("acqua", quantity=3)]}
    updated = agent.update(checkout["id"], body).json()
    assert totals(updated) == {"subtotal": 900, "tip": 45, "total": 945}
    assert updated["buyer"] == BUYER


@pytest.mark.parametrize("end", ["complete", "cancel", "expire"])
def test_what_is_over_cannot_be_changed(agent: Agent, menu: Menu, end: str) -> None:
    session = agent.create(menu.venue)["id"]
    if end == "expire":
        CheckoutSession.objects.update(expires_at=timezone.now())
    else:
        assert getattr(agent, end)(session, key="end").status_code == 200
    assert agent.get(session)["status"] == ("completed" if end == "complete" else "canceled")
    update = agent.update(session, new_body(menu.venue))
    assert (update.status_code, update.json()["code"]) == (409, "checkout_not_modifiable")
    assert agent.cancel(session).status_code == 409
    assert agent.complete(session, key="other").status_code == 409
    assert Order.objects.count() == (1 if end == "complete" else 0)


def test_a_canceled_session_keeps_no_contact(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    assert "buyer" not in agent.cancel(session).json()
    assert "buyer" not in CheckoutSession.objects.get().content


@pytest.mark.parametrize("change", ["closed", "unpublished"])
@pytest.mark.parametrize("key", [None, "cancel"])
def test_a_session_can_be_canceled_and_read_while_the_establishment_takes_no_orders(
    agent: Agent, menu: Menu, change: str, key: str | None
) -> None:
    canceled, expired = [agent.create(menu.venue)["id"] for _ in range(2)]
    CheckoutSession.objects.with_public_id(expired).update(expires_at=timezone.now())
    if change == "closed":
        OrderingSettings.objects.update(is_page_open=False)
    else:
        Menu.objects.update(is_published=False)
    assert agent.cancel(canceled, key=key).json()["status"] == "canceled"
    assert CheckoutSession.objects.with_public_id(canceled).get().state == "canceled"
    for session in (canceled, expired):
        read = agent.get(session)
        assert (read["status"], read["line_items"][0]["dish"]["id"]) == ("canceled", "margherita")


def test_the_same_completion_gets_its_order_after_the_settings_have_changed(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    order = agent.complete(session).json()["order"]
    menu.venue.payment_methods = ["card"]
    menu.venue.save()
    again = agent.complete(session)
    assert (again.status_code, again.json().get("order")) == (200, order)


@pytest.mark.parametrize("tip", [951, 10**8])
def test_a_tip_is_at_most_what_the_order_costs(agent: Agent, menu: Menu, tip: int) -> None:
    as_much = agent.create(menu.venue, tip={"custom_amount": 950})
    assert (as_much["status"], totals(as_much)["total"]) == ("ready_for_complete", 1900)
    checkout = agent.create(menu.venue, tip={"custom_amount": tip})
    assert (checkout["status"], codes(checkout)) == ("incomplete", [("invalid_request", "$.tip.custom_amount")])
    assert agent.complete(checkout["id"]).json()["status"] == "incomplete"
    assert not Order.objects.exists()


def test_a_key_of_another_caller_does_not_lead_to_a_session(agent: Agent, menu: Menu) -> None:
    """The profile is public, and keys may be as simple as 1."""
    own = agent.create(menu.venue, key="1")
    other = Agent(agent.profile, client=Client(REMOTE_ADDR="198.51.100.7")).create(menu.venue, key="1")
    assert own["id"] != other["id"]
    assert other["buyer"] == BUYER


# What changes meanwhile
def test_a_changed_price_is_told_before_anything_is_ordered(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    menu.items.filter(ref="margherita").update(price="12.00")
    told = agent.complete(session).json()
    assert told["status"] == "ready_for_complete"
    assert (told["messages"][0]["code"], told["messages"][0]["presentation"]) == ("totals_changed", "disclosure")
    assert totals(told)["total"] == 1200
    assert not Order.objects.exists()
    assert agent.complete(session).json()["status"] == "completed"
    assert placed().total == Decimal(12)


def test_a_price_that_get_has_told_is_known(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    menu.items.filter(ref="margherita").update(price="12.00")
    assert totals(agent.get(session))["total"] == 1200
    assert agent.complete(session).json()["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        ({"is_available": False}, "item_unavailable", "$.line_items[0].dish"),
        ({"stock": 0}, "out_of_stock", "$.line_items[0].dish"),
        ({"stock": 1}, "out_of_stock", "$.line_items[0].quantity"),
    ],
)
def test_a_dish_that_is_gone_is_not_ordered(agent: Agent, menu: Menu, change: Any, code: str, path: str) -> None:
    checkout = agent.create(menu.venue, line("acqua", quantity=2))
    menu.items.filter(ref="acqua").update(**change)
    told = agent.complete(checkout["id"]).json()
    assert (told["status"], codes(told)) == ("incomplete", [(code, path)])
    assert not Order.objects.exists()


def test_an_order_takes_its_portions(agent: Agent, menu: Menu) -> None:
    menu.items.filter(ref="acqua").update(stock=3)
    agent.complete(agent.create(menu.venue, line("acqua", quantity=2))["id"])
    assert menu.items.get(ref="acqua").stock == 1


@pytest.mark.parametrize(
    ("lines", "code", "path"),
    [
        ([line("margarita")], "item_unavailable", "$.line_items[0].dish"),
        ([line("acqua"), line("margherita", "huge")], "invalid_modification", "$.line_items[1].dish.modifications"),
        ([line("margherita", "olives", "olives")], "invalid_modification", "$.line_items[0].dish.modifications"),
        ([line("margherita", "small", "large")], "invalid_modification", "$.line_items[0].dish.modifications"),
        ([line("menu")], "invalid_modification", "$.line_items[0].dish.modifications"),
    ],
)
def test_what_is_not_on_the_menu_is_an_incomplete_checkout(
    agent: Agent, menu: Menu, lines: Any, code: str, path: str
) -> None:
    checkout = agent.create(menu.venue, *lines)
    assert (checkout["status"], codes(checkout)) == ("incomplete", [(code, path)])
    assert agent.complete(checkout["id"]).json()["status"] == "incomplete"
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("buyer", "expected"),
    [
        ({}, [("missing", "$.buyer.first_name"), ("missing", "$.buyer.phone_number")]),
        ({"first_name": "Ada"}, [("missing", "$.buyer.phone_number")]),
        (BUYER | {"phone_number": "12"}, [("invalid_request", "$.buyer.phone_number")]),
        (BUYER | {"email": "ada"}, [("invalid_request", "$.buyer.email")]),
    ],
)
def test_the_establishment_has_to_know_whom_to_call(agent: Agent, menu: Menu, buyer: Any, expected: Any) -> None:
    checkout = agent.create(menu.venue, buyer=buyer)
    assert (checkout["status"], codes(checkout)) == ("incomplete", expected)
    ready = agent.update(checkout["id"], new_body(menu.venue)).json()
    assert ready["status"] == "ready_for_complete"


# Times and the limits of the page
def pickup(**members: Any) -> dict[str, Any]:
    return {"methods": [{"type": "pickup", **members}]}


def test_an_order_for_later_is_promised_for_then(agent: Agent, menu: Menu) -> None:
    at = (timezone.now() + timedelta(hours=2)).replace(microsecond=0)
    checkout = agent.create(menu.venue, fulfillment=pickup(requested_fulfillment_time=at.isoformat()))
    (method,) = checkout["fulfillment"]["methods"]
    wanted = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    assert (method["selected_option_id"], method["requested_fulfillment_time"]) == (wanted, wanted)
    assert (method["destination"]["type"], method["destination"]["id"]) == ("business_location", menu.venue.public_id)
    agent.complete(checkout["id"])
    assert placed().promised_at == at


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_an_option_at_the_end_of_time_is_none_of_ours(agent: Agent, menu: Menu, at: str, zone: str) -> None:
    menu.venue.timezone = zone
    menu.venue.save()
    checkout = agent.create(menu.venue, fulfillment=pickup(selected_option_id=at))
    assert (checkout["status"], "requested_fulfillment_time" in checkout["fulfillment"]) == (
        "ready_for_complete",
        False,
    )


def test_a_full_slot_has_alternatives_of_which_one_is_selected(agent: Agent) -> None:
    menu = pizzeria(orders_per_slot=1, slot_minutes=15)
    with time_machine.travel(datetime.fromisoformat("2031-05-05T10:00:00Z"), tick=False):
        body = new_body(menu.venue, fulfillment=pickup(requested_fulfillment_time="2031-05-05T12:00:00Z"))
        sessions = [agent.call("POST", "/checkout-sessions", body).json()["id"] for _ in range(2)]
        assert agent.complete(sessions[0]).json()["status"] == "completed"
        told = agent.complete(sessions[1]).json()
        path = "$.fulfillment.methods[0].requested_fulfillment_time"
        assert (told["status"], codes(told)) == ("incomplete", [("slot_unavailable", path)])
        offered = [option["id"] for option in told["fulfillment"]["methods"][0]["options"]]
        assert "2031-05-05T12:15:00Z" in offered
        assert "2031-05-05T12:00:00Z" not in offered
        chosen = pickup(requested_fulfillment_time="2031-05-05T12:00:00Z", selected_option_id="2031-05-05T12:15:00Z")
        for _ in range(2):
            ready = agent.update(sessions[1], new_body(menu.venue, fulfillment=chosen)).json()
            assert ready["fulfillment"]["methods"][0]["selected_option_id"] == "2031-05-05T12:15:00Z"
        later = pickup(requested_fulfillment_time="2031-05-05T13:00:00Z", selected_option_id="2031-05-05T12:15:00Z")
        moved = agent.update(sessions[1], new_body(menu.venue, fulfillment=later)).json()
        assert moved["fulfillment"]["methods"][0]["selected_option_id"] == "2031-05-05T13:00:00Z"
        assert agent.complete(sessions[1]).json()["status"] == "completed"


def test_outside_the_hours_later_times_are_offered(agent: Agent, menu: Menu) -> None:
    builders.period(menu.venue, first="18:00", last="21:00")
    with time_machine.travel(datetime.fromisoformat("2031-05-05T08:00:00Z"), tick=False):
        checkout = agent.create(menu.venue)
        assert codes(checkout) == [("location_closed", "$.food_establishment")]
        options = checkout["fulfillment"]["methods"][0]["options"]
        assert options
        chosen = new_body(menu.venue, fulfillment=pickup(selected_option_id=options[0]["id"]))
        assert agent.update(checkout["id"], chosen).json()["status"] == "ready_for_complete"


@pytest.mark.parametrize("method", [{"type": "delivery"}, {"type": "delivery", "destination": {"address": {}}}])
def test_guests_pick_up_what_agents_order(agent: Agent, menu: Menu, method: Any) -> None:
    checkout = agent.create(menu.venue, fulfillment={"methods": [method]})
    assert codes(checkout) == [("address_undeliverable", "$.fulfillment.methods[0]")]
    assert checkout["fulfillment"] == {"available_methods": [{"type": "pickup", "fulfillable_on": "now"}]}


def test_a_paused_page_and_too_many_waiting_orders_take_nothing(agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    settings = menu.venue.ordering_settings
    settings.paused_at = timezone.now()
    settings.save()
    told = agent.complete(session).json()
    assert codes(told) == [("location_closed", "$.food_establishment")]
    settings.paused_at, settings.max_waiting_orders = None, 1
    settings.save()
    assert agent.complete(session).json()["status"] == "completed"
    assert codes(agent.create(menu.venue)) == [("location_closed", "$.food_establishment")]


def test_five_open_orders_of_a_phone_are_enough_with_those_of_the_page(agent: Agent, menu: Menu) -> None:
    contact = {"type": "pickup", "contact": {"phone": BUYER["phone_number"]}}
    for _ in range(4):
        builders.order(menu.venue, channel="page", fulfilment=contact)
    first, second = agent.create(menu.venue)["id"], agent.create(menu.venue)["id"]
    assert agent.complete(first).json()["status"] == "completed"
    assert codes(agent.complete(second).json()) == [("too_many_orders", "$.buyer.phone_number")]
    assert Order.objects.count() == 5


def test_an_establishment_is_named_by_its_id_or_by_the_slug_of_its_restaurant(agent: Agent, menu: Menu) -> None:
    restaurant = places.restaurant(slug="pizzeria-roma")
    places.listing(restaurant, venue=menu.venue)
    checkout = agent.call("POST", "/checkout-sessions", new_body("pizzeria-roma")).json()
    assert checkout["food_establishment"]["id"] == menu.venue.public_id
    assert agent.update(checkout["id"], new_body("pizzeria-roma")).status_code == 200


@pytest.mark.parametrize(
    ("identifier", "code"), [("ven_nowhere", "not_found"), ("\u00e9", "not_found"), ("closed", "not_found")]
)
def test_an_establishment_that_takes_no_orders_is_told(agent: Agent, menu: Menu, identifier: str, code: str) -> None:
    if identifier == "closed":
        OrderingSettings.objects.update(is_page_open=False)
        identifier = menu.venue.public_id
    response = agent.call("POST", "/checkout-sessions", new_body(identifier))
    assert response.status_code == 200
    (message,) = response.json()["messages"]
    assert (message["code"], message["severity"]) == (code, "unrecoverable")
    assert not CheckoutSession.objects.exists()


def test_a_venue_that_serves_at_tables_only_names_its_page(agent: Agent) -> None:
    menu = pizzeria(page_fulfilments=["dine_in"])
    body = agent.call("POST", "/checkout-sessions", new_body(menu.venue)).json()
    assert body["messages"][0]["code"] == "location_closed"
    assert body["continue_url"].endswith(f"/order/{menu.venue.public_id}")


# Requests that cannot be read
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"line_items": [line("acqua", quantity=-1)]}, "$.line_items[0].quantity"),
        ({"line_items": [line("acqua", quantity=0)]}, "$.line_items[0].quantity"),
        ({"line_items": [line("acqua", quantity=100)]}, "$.line_items[0].quantity"),
        ({"line_items": [{"dish": {"id": "acqua"}, "quantity": "2"}]}, "$.line_items[0].quantity"),
        ({"line_items": [{"dish": {"id": "acqua"}, "quantity": 2.5}]}, "$.line_items[0].quantity"),
        ({"line_items": []}, "$.line_items"),
        ({"line_items": [line("acqua")] * 31}, "$.line_items"),
        ({"line_items": "x"}, "$.line_items"),
        ({}, "$.line_items"),
        ({"line_items": [{"quantity": 1}]}, "$.line_items[0].dish"),
        ({"line_items": [line("acqua", note="x" * 501)]}, "$.line_items[0].dish.note"),
        ({"line_items": [line("acqua")], "tip": {"custom_amount": -1}}, "$.tip.custom_amount"),
        ({"line_items": [line("acqua")], "tip": {"custom_amount": 1, "selected_option_id": "tip_5"}}, "$.tip"),
        ({"line_items": [line("acqua")], "fulfillment": {"methods": [{"type": "drone"}]}}, None),
        ({"line_items": [line("acqua")], "fulfillment": pickup(requested_fulfillment_time="noon")}, None),
        ({"line_items": [line("acqua")], "fulfillment": pickup(requested_fulfillment_time=1)}, None),
        (
            {"line_items": [line("acqua")], "fulfillment": pickup(requested_fulfillment_time="9999-12-31T23:59:59Z")},
            None,
        ),
        (
            {"line_items": [line("acqua")], "fulfillment": pickup(requested_fulfillment_time="0001-01-01T00:00:00Z")},
            None,
        ),
        (
            {
                "line_items": [
                    {"dish": {"id": "margherita", "modifications": [{"id": "ham", "quantity": 2}]}, "quantity": 1}
                ]
            },
            "$.line_items[0].dish.modifications[0].quantity",
        ),
    ],
)
def test_a_body_of_another_shape_is_refused_with_its_path(
    agent: Agent, menu: Menu, body: Any, path: str | None
) -> None:
    sent = {"food_establishment": {"id": menu.venue.public_id}, **body}
    response = agent.call("POST", "/checkout-sessions", sent)
    assert response.status_code == 400
    (message, *_) = response.json()["messages"]
    assert message["code"] == "invalid_request"
    assert path is None or message["path"] == path
    session = agent.create(menu.venue)["id"]
    assert agent.update(session, sent).status_code == 400
    assert CheckoutSession.objects.count() == 1


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"a":1,"a":2}', b"\xff", b'{"a":"\\u0000"}', b"[" * 5000])
def test_a_body_that_is_no_json_object_is_refused(agent: Agent, menu: Menu, raw: bytes) -> None:
    session = agent.create(menu.venue)["id"]
    for method, path in (
        ("POST", "/checkout-sessions"),
        ("PUT", f"/checkout-sessions/{session}"),
        ("POST", f"/checkout-sessions/{session}/complete"),
    ):
        assert agent.call(method, path, raw).status_code == 400


@pytest.mark.parametrize(
    "instruments",
    [
        [],
        [{"id": "i1"}],
        [CASH, CASH | {"id": "i2"}],
        [CASH | {"type": "gold"}],
        [CASH | {"handler_id": "other"}],
        [{"id": "i1", "handler_id": "x402", "type": "x402"}],
        [{"id": "i1", "handler_id": "x402", "type": "x402", "credential": {"payment": {"x402Version": 2}}}],
        [{"id": "i1", "handler_id": "x402", "type": "x402", "credential": {"payment": f"0x{'ab' * 32}"}}],
    ],
)
def test_an_instrument_that_cannot_be_used_is_refused(agent: Agent, menu: Menu, instruments: Any) -> None:
    session = agent.create(menu.venue)["id"]
    path = f"/checkout-sessions/{session}/complete"
    response = agent.call("POST", path, {"payment": {"instruments": instruments}})
    assert response.status_code == 400
    assert not Order.objects.exists()
    chosen = [CASH | {"id": "i2", "selected": True}, CASH]
    assert agent.call("POST", path, {"payment": {"instruments": chosen}}).status_code == 200


def test_members_that_are_not_ours_are_ignored(agent: Agent, menu: Menu) -> None:
    more: dict[str, Any] = {
        "context": {"address_country": "IT"},
        "signals": {},
        "com.example.loyalty": {"tier": "gold"},
    }
    assert agent.create(menu.venue, **more)["status"] == "ready_for_complete"


# Whose session
def test_another_agents_session_does_not_exist(agent: Agent, other_agent: Agent, menu: Menu) -> None:
    session = agent.create(menu.venue)["id"]
    calls = [
        ("GET", "", None),
        ("PUT", "", new_body(menu.venue)),
        ("POST", "/complete", {"payment": {"instruments": [CASH]}}),
        ("POST", "/cancel", None),
    ]
    for method, action, body in calls:
        for whose, name in ((other_agent, session), (agent, "chk_" + "0" * 26), (agent, "x"), (agent, session + "0")):
            response = whose.call(method, f"/checkout-sessions/{name}{action}", body)
            assert response.status_code == 200
            assert response.json()["messages"][0]["code"] == "not_found"
    assert agent.get(session)["status"] == "ready_for_complete"
    assert not Order.objects.exists()


def test_ids_of_sessions_cannot_be_guessed_from_each_other(agent: Agent, menu: Menu) -> None:
    ids = [agent.create(menu.venue)["id"] for _ in range(3)]
    assert {CheckoutSession.objects.with_public_id(each).get().pk.version for each in ids} == {4}


def test_without_the_setting_there_is_nothing(agent: Agent, menu: Menu, settings: Settings) -> None:
    settings.UCP_ENABLED = False
    for path in ("/.well-known/ucp", "/ucp/2026-08-25/checkout-sessions", "/ucp/2026-08-25/checkout-sessions/x"):
        for response in (Client().get(path), Client().post(path, {}, content_type="application/json")):
            assert (response.status_code, json.loads(response.content)["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "PUT", "GET", "HEAD"])
def test_methods_that_are_none_are_refused(agent: Agent, menu: Menu, method: str) -> None:
    response = Client().generic(method, "/ucp/2026-08-25/checkout-sessions")
    assert (response.status_code, response["Allow"]) == (405, "POST")
