"""Orders that people of the venue take on the phone: priced by the server, placed once, and nothing typed is lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Event, Venue
from orders.models import Menu, Order
from tests.support import builders, users
from tests.support.html import form_of

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TOKEN = "0" * 32


@pytest.fixture
def host(venue: Venue) -> Client:
    """Somebody at the phone."""
    return users.member(venue, "host", person=users.user("host@example.com"))


@pytest.fixture
def menu(venue: Venue) -> Menu:
    """Pizza and cake."""
    return builders.menu(venue, tiramisu="6.50")


def at(venue: Venue) -> str:
    """The address of the form."""
    return f"/dashboard/{venue.public_id}/orders/new"


def form(**changes: Any) -> dict[str, Any]:
    """A form that is filled in and sent off."""
    return {
        "token": TOKEN,
        "ref": ["margherita", "tiramisu"],
        "quantity": ["2", "1"],
        "notes": ["no basil", ""],
        "customer_id": "+39 06 555",
        "fulfilment": "pickup",
        "delivery_address": "",
        "payment_method": "cash",
        "do": "place",
    } | changes


@pytest.mark.exhaustive
def test_the_form_costs_the_same_queries_for_a_small_menu_and_a_large_one(
    venue: Venue, host: Client, menu: Menu, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        builders.dish(menu, f"dish-{number}")
    # Session, user, venue, part; the menu, its dishes, how many; what is chosen, which ask questions; the other
    # venues; and around them who acts, for the history of rows.
    with django_assert_num_queries(12):
        text = host.post(at(venue), form(do="search")).content.decode()
    assert "and 22 more. Search by name to find them." in text


def test_an_order_is_placed_with_the_menus_names_and_prices(venue: Venue, host: Client, menu: Menu) -> None:
    answer = host.post(at(venue), form())
    order = Order.objects.get()
    assert answer.headers["Location"] == f"/dashboard/{venue.public_id}/orders/{order.public_id}"
    assert (str(order.total), order.customer_id, order.delivery_address) == ("25.500", "+39 06 555", None)
    lines = list(order.items.order_by("position").values_list("name", "quantity", "notes"))
    assert lines == [("Margherita", 2, "no basil"), ("Tiramisu", 1, "")]
    assert Event.objects.get().actor == "staff:host@example.com"


@pytest.fixture
def sizes(menu: Menu) -> None:
    """A pizza is small or large, a large one with up to one extra."""
    extras = menu.modifier_groups.create(ref="extras", name="Extras", max_choices=1)
    extras.modifiers.create(menu=menu, ref="ham", name="Ham", price_delta="1.50")
    size = menu.modifier_groups.create(ref="size", name="Size", min_choices=1)
    size.modifiers.create(menu=menu, ref="small", name="Small", is_default=True)
    size.modifiers.create(menu=menu, ref="large", name="Large", price_delta="3.00", nested_group=extras)
    menu.items.get(ref="margherita").item_modifier_groups.create(menu=menu, group=size)


@pytest.mark.usefixtures("sizes")
def test_sizes_and_extras_of_a_line_are_chosen(venue: Venue, host: Client) -> None:
    asked = host.post(at(venue), form(do="choose:0"))
    values = form_of(asked, "phone-order")
    assert values["group-size"] == ["small"]
    chosen = host.post(at(venue), values | {"group-size": "large", "nested-large": "ham", "do": "chosen:0"})
    text = chosen.content.decode()
    assert "Large, Ham" in text
    assert "€34.50" in text
    # Asked again, the answers are the chosen ones.
    answers = host.post(at(venue), form_of(chosen, "phone-order") | {"do": "choose:0"})
    again = form_of(answers, "phone-order")
    assert (again["group-size"], again["nested-large"]) == (["large"], ["ham"])
    assert host.post(at(venue), form_of(chosen, "phone-order") | {"do": "place"}).status_code == 302
    first, second = Order.objects.get().items.order_by("position")
    assert [each["id"] for each in first.all_modifiers] == ["large", "ham"]
    assert (str(first.line_total), second.modifiers) == ("28.000", [])


@pytest.mark.usefixtures("sizes")
def test_a_choice_that_is_missing_is_asked_for(venue: Venue, host: Client) -> None:
    answer = host.post(at(venue), form(do="chosen:0"))
    assert answer.status_code == 400
    assert "Choose 1." in answer.content.decode()
    # htmx shows answers of 200 only.
    part = host.post(at(venue), form(do="chosen:0"), headers={"HX-Request": "true", "HX-Target": "cart"})
    assert (part.status_code, "Choose 1." in part.content.decode()) == (200, True)
    for target in ("7", "x", "1"):
        assert host.post(at(venue), form(do=f"choose:{target}")).status_code == 200


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("modifiers", ["{", "[1]", '[{"id": 7}]', "[" * 2000])
def test_choices_that_are_not_of_the_form_are_those_of_the_menu(venue: Venue, host: Client, modifiers: str) -> None:
    assert host.post(at(venue), form(modifiers=[modifiers, ""])).status_code == 302
    line = Order.objects.get().items.get(position=0)
    assert [each["id"] for each in line.modifiers] == ["small"]


@pytest.mark.exhaustive
def test_the_server_adds_counts_and_prices(venue: Venue, host: Client, menu: Menu) -> None:
    answer = host.get(at(venue))
    for do, quantities, total in (
        ("add:margherita", ["1"], "€9.50"),
        ("add:tiramisu", ["1", "1"], "€16.00"),
        ("add:margherita", ["2", "1"], "€25.50"),
        ("increase:1", ["2", "2"], "€32.00"),
        ("decrease:0", ["1", "2"], "€22.50"),
        ("decrease:0", ["1", "2"], "€22.50"),
        ("remove:0", ["2"], "€13.00"),
        ("increase:7", ["2"], "€13.00"),
        ("remove:-1", ["2"], "€13.00"),
    ):
        answer = host.post(at(venue), form_of(answer, "phone-order") | {"do": do})
        assert form_of(answer, "phone-order")["quantity"] == quantities
        assert f"<dt>Total</dt><dd>{total}</dd>" in answer.content.decode()
    assert Order.objects.count() == 0


def test_what_htmx_asks_for_is_a_part_of_the_page(venue: Venue, host: Client, menu: Menu) -> None:
    for target, has in (("cart", 'id="cart"'), ("dishes", 'id="dishes"')):
        answer = host.post(
            at(venue), form(do="", search="tira"), headers={"hx-request": "true", "hx-target": target}
        ).content.decode()
        assert has in answer
        assert "<html" not in answer
        # The total and the button change with the lines, but stand below the customer.
        assert ('<div id="place" hx-swap-oob="true">' in answer) == (target == "cart")
    assert "Margherita" not in answer


def test_dishes_that_cannot_be_had_are_shown_with_the_reason(venue: Venue, host: Client, menu: Menu) -> None:
    late = menu.categories.create(name="Late", position=2, served_from="22:00", served_until="23:00")
    builders.dish(menu, "soup", category=late)
    menu.items.filter(ref="tiramisu").update(sold_out_on=NOON.date())
    menu.items.filter(ref="margherita").update(is_available=False)
    with time_machine.travel(NOON, tick=False):
        text = host.get(at(venue)).content.decode()
        refused = host.post(at(venue), form()).content.decode()
    for words in ("Served from 22:00 to 23:00", "Sold out today", "Not available"):
        assert words in text
    # Three dishes, and the order that is still empty.
    assert text.count(" disabled ") == 4
    assert "`margherita` is not available." in refused
    assert "`tiramisu` is sold out today." in refused
    assert Order.objects.count() == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"customer_id": " "}, "This must not be empty."),
        ({"customer_id": "a\0"}, "This holds a control character."),
        ({"customer_id": "x" * 65}, "This must be at most 64 characters long."),
        ({"quantity": ["0", "1"]}, "This must be at least 1."),
        ({"quantity": ["many", "1"]}, "This must be an integer."),
        ({"quantity": ["1e400", "1"]}, "This must be an integer."),
        ({"ref": ["sushi", "tiramisu"]}, "There is no `sushi` on the menu."),
        ({"ref": ["a\0", "tiramisu"]}, "This holds a control character."),
        ({"notes": ["x" * 501, ""]}, "This must be at most 500 characters long."),
        ({"ref": [], "quantity": [], "notes": []}, "This must have at least 1 element."),
        ({"payment_method": "Gold!"}, "This must be a label of small letters"),
        ({"fulfilment": "delivery"}, "Enter the delivery address."),
    ],
)
def test_form_error_is_shown_at_its_field_and_the_input_is_preserved(
    venue: Venue, host: Client, menu: Menu, changes: dict[str, Any], words: str
) -> None:
    answer = host.post(at(venue), form(**changes))
    assert answer.status_code == 400
    assert words in answer.content.decode()
    stored = form_of(answer, "phone-order")
    sent = form(**changes)
    for name in ("customer_id", "fulfilment", "token"):
        assert stored[name] == [sent[name]]
    assert stored.get("notes", []) == sent["notes"]
    assert Order.objects.count() == 0


def test_the_venues_labels_alone_are_offered_and_taken(venue: Venue, host: Client, menu: Menu) -> None:
    Venue.objects.filter(pk=venue.pk).update(payment_methods=["card", "twint"])
    assert form_of(host.get(at(venue)), "phone-order")["payment_method"] == ["card"]
    refused = host.post(at(venue), form()).content.decode()
    assert "This venue does not take `cash`. It takes: card, twint." in refused
    assert Order.objects.count() == 0


def test_a_venue_without_a_menu_takes_any_item_without_prices(venue: Venue, host: Client) -> None:
    answer = host.post(at(venue), form(ref=[], quantity=[], notes=[], search="the-usual", do="add"))
    assert form_of(answer, "phone-order")["ref"] == ["the-usual"]
    host.post(at(venue), form_of(answer, "phone-order") | {"do": "place"})
    order = Order.objects.get()
    assert (order.items.get().menu_item_id, order.total) == ("the-usual", None)


def test_a_bar_shows_how_many_items_the_order_has_and_their_total(venue: Venue, host: Client, menu: Menu) -> None:
    empty = host.get(at(venue)).content.decode()
    assert '<p class="cart-bar"><b>0 items · €0.00</b>' in empty
    assert 'value="place" class="phone-place" disabled aria-describedby="place-help">Place order</button>' in empty
    assert '<p class="help" id="place-help">Add a dish first.</p>' in empty
    text = host.post(at(venue), form(do="search")).content.decode()
    assert '<p class="cart-bar"><b>3 items · €25.50</b>' in text


@pytest.mark.exhaustive
def test_a_form_that_is_sent_again_is_one_order(venue: Venue, host: Client, menu: Menu) -> None:
    first, second = (host.post(at(venue), form()).headers["Location"] for _ in range(2))
    assert first == second
    changed = host.post(at(venue), form(customer_id="somebody else"))
    assert changed.status_code == 400
    assert "Select “Place order” again to place another order." in changed.content.decode()
    assert Order.objects.count() == 1
    again = form_of(changed, "phone-order")
    assert (again["token"] != [TOKEN], again["customer_id"]) == (True, ["somebody else"])
    host.post(at(venue), again | {"do": "place"})
    assert Order.objects.count() == 2


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_double_click_is_one_order() -> None:
    venue = builders.venue()
    builders.menu(venue, tiramisu="6.50")
    host = users.member(venue, "host")
    start = Barrier(4)

    def click(_: int) -> str:
        try:
            start.wait(timeout=10)
            return str(host.post(at(venue), form()).headers["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(click, range(4)))) == 1
    assert Order.objects.count() == 1


def test_the_form_of_another_venue_is_not_there(other_venue: Venue, host: Client) -> None:
    assert host.get(at(other_venue)).status_code == 404
    assert host.post(at(other_venue), form()).status_code == 404
    assert Order.objects.count() == 0
