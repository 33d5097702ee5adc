"""Modifiers of dishes: what a caller may choose, what it costs, and what is refused by its name."""

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from orders.models import Menu, MenuItem, Modifier, Order, OrderNumber
from tests.support import builders

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def api(venue: Venue) -> Client:
    return builders.client(venue)


@pytest.fixture
def menu(venue: Venue) -> Menu:
    """A pizza in two sizes, small by default, with up to two extras; an extra has a question of its own."""
    menu = builders.menu(venue)
    pizza = menu.items.get()
    builders.modifier_group(menu, "size", {"small": "0", "large": "3.00"}, pizza, min_choices=1)
    Modifier.objects.filter(ref="small").update(is_default=True)
    builders.modifier_group(menu, "extras", {"olives": "1.00", "ham": "2.50", "egg": "1.50"}, pizza, max_choices=2)
    cooking = builders.modifier_group(menu, "cooking", {"soft": "0", "hard": "0.20"}, min_choices=1)
    Modifier.objects.filter(ref="egg").update(nested_group=cooking)
    return menu


def post(api: Client, *modifiers: Any, quantity: int = 1, ref: str = "margherita") -> Any:
    line: dict[str, Any] = {"menu_item_id": ref, "quantity": quantity}
    if modifiers:
        line["modifiers"] = [{"id": each} if isinstance(each, str) else each for each in modifiers]
    with time_machine.travel(NOON, tick=False):
        return api.post("/api/v1/orders", builders.order_body(items=[line]), content_type="application/json")


def refused(response: Any) -> list[tuple[str, str]]:
    """All that is wrong, of which nothing was stored."""
    assert (response.status_code, Order.objects.count(), OrderNumber.objects.count()) == (400, 0, 0)
    return builders.problems_of(response)


@pytest.mark.usefixtures("menu")
def test_chosen_modifiers_are_on_the_line_in_the_order_of_the_menu_and_in_its_price(api: Client) -> None:
    egg = {"id": "egg", "modifiers": [{"id": "hard"}]}
    record = post(api, egg, "olives", "large", quantity=2).json()
    (line,) = record["items"]
    assert line["modifiers"] == [
        {"id": "large", "name": "Large", "price": "3.00", "menu_item_id": None, "modifiers": []},
        {"id": "olives", "name": "Olives", "price": "1.00", "menu_item_id": None, "modifiers": []},
        {
            "id": "egg",
            "name": "Egg",
            "price": "1.50",
            "menu_item_id": None,
            "modifiers": [{"id": "hard", "name": "Hard", "price": "0.20", "menu_item_id": None}],
        },
    ]
    assert (line["unit_price"], line["line_total"], record["total"]) == ("15.20", "30.40", "30.40")
    assert api.get(f"/api/v1/orders/{record['id']}").json() == record
    assert api.get("/api/v1/orders").json()["data"] == [record]


@pytest.mark.usefixtures("menu")
def test_of_a_required_group_without_a_choice_the_default_is_taken(api: Client) -> None:
    (line,) = post(api, "ham").json()["items"]
    assert [each["id"] for each in line["modifiers"]] == ["small", "ham"]
    assert line["unit_price"] == "12.00"


@pytest.mark.usefixtures("menu")
@pytest.mark.parametrize(
    ("modifiers", "problems"),
    [
        (
            ["largest"],
            [("modifiers[0].id", "There is no `largest` among the modifiers of `margherita`. Did you mean `large`?")],
        ),
        (["small", "large"], [("modifiers", "Choose 1 of `size`: small, large.")]),
        (["ham", "olives", "ham"], [("modifiers[2].id", "`ham` is chosen twice.")]),
        (
            ["olives", "ham", {"id": "egg", "modifiers": [{"id": "soft"}]}],
            [("modifiers", "Choose at most 2 of `extras`: olives, ham, egg.")],
        ),
        (["egg"], [("modifiers[0].modifiers", "Choose 1 of `cooking`: soft, hard.")]),
        (
            ["large", {"id": "egg", "modifiers": [{"id": "raw"}]}],
            [
                ("modifiers[1].modifiers[0].id", "There is no `raw` among the modifiers of `egg`."),
                ("modifiers[1].modifiers", "Choose 1 of `cooking`: soft, hard."),
            ],
        ),
        (
            [{"id": "ham", "modifiers": [{"id": "hard"}]}],
            [("modifiers[0].modifiers[0].id", "`ham` has no modifiers.")],
        ),
        ([5], [("modifiers[0]", "This must be an object.")]),
        ([{"id": ""}], [("modifiers[0].id", "This must not be empty.")]),
        ([{"name": "ham"}], [("modifiers[0].name", ""), ("modifiers[0].id", "This is required.")]),
    ],
)
def test_a_wrong_modifier_is_refused_by_its_name(
    api: Client, modifiers: list[Any], problems: list[tuple[str, str]]
) -> None:
    found = refused(post(api, *modifiers))
    assert [param for param, _ in found] == [f"items[0].{param}" for param, _ in problems]
    for (_, message), (_, expected) in zip(found, problems, strict=True):
        assert message.removeprefix(f"`{found[0][0]}`: ") == expected or not expected


def test_a_modifier_that_is_not_available_is_refused_also_as_a_default(api: Client, menu: Menu) -> None:
    menu.modifiers.filter(ref="small").update(is_available=False)
    assert refused(post(api)) == [("items[0].modifiers", "Choose 1 of `size`: small, large.")]
    assert refused(post(api, "small")) == [("items[0].modifiers[0].id", "`small` is not available.")]


def test_a_dish_without_modifiers_has_none(api: Client, menu: Menu) -> None:
    builders.dish(menu, "water", "2.00")
    assert refused(post(api, "large", ref="water")) == [("items[0].modifiers[0].id", "`water` has no modifiers.")]


def test_modifiers_never_make_a_dish_cost_less_than_nothing(api: Client, menu: Menu) -> None:
    menu.modifiers.filter(ref="ham").update(price_delta="-9.51")
    assert refused(post(api, "ham")) == [
        ("items[0].modifiers", "With these modifiers `margherita` costs less than nothing.")
    ]
    menu.modifiers.filter(ref="ham").update(price_delta="-9.50")
    assert post(api, "ham").json()["total"] == "0.00"


def test_a_part_of_a_combo_takes_a_portion_of_its_dish_and_is_refused_without_one(api: Client, menu: Menu) -> None:
    cola = builders.dish(menu, "cola", "3.00", stock=3)
    drinks = builders.modifier_group(menu, "drink", {"with-cola": "1.00"}, MenuItem.objects.get(ref="margherita"))
    drinks.modifiers.update(item=cola)
    (line,) = post(api, "with-cola", quantity=2).json()["items"]
    assert line["modifiers"][1]["menu_item_id"] == "cola"
    assert (line["unit_price"], MenuItem.objects.get(ref="cola").stock) == ("10.50", 1)
    Order.objects.all().delete()
    OrderNumber.objects.all().delete()
    assert refused(post(api, "with-cola", quantity=2)) == [("items[0].modifiers", "Only 1 of `cola` is left.")]
    cola.is_available = False
    cola.save()
    assert refused(post(api, "with-cola")) == [("items[0].modifiers", "`with-cola` is not available.")]


def test_a_venue_without_a_menu_takes_any_modifier(api: Client) -> None:
    (line,) = post(api, {"id": "no-basil", "modifiers": [{"id": "really"}]}).json()["items"]
    nothing = {"name": None, "price": None, "menu_item_id": None}
    assert line["modifiers"] == [{"id": "no-basil", **nothing, "modifiers": [{"id": "really", **nothing}]}]


@pytest.mark.usefixtures("menu")
def test_an_order_with_modifiers_takes_one_query_more(
    api: Client, venue: Venue, django_assert_num_queries: Any
) -> None:
    post(api)
    with django_assert_num_queries(3):
        builders.orders_commands.place_order(
            venue,
            now=NOON,
            actor="system",
            customer_id="cust_123",
            items=[{"menu_item_id": "margherita", "quantity": 1, "modifiers": [{"id": "ham"}]}],
            payment_method="card",
        )


def test_modifiers_of_modifiers_ask_no_question_even_in_a_circle(api: Client, menu: Menu) -> None:
    extras = menu.modifier_groups.get(ref="extras")
    menu.modifiers.filter(ref="soft").update(nested_group=extras, is_default=True)
    menu.modifier_groups.filter(ref="extras").update(min_choices=1)
    menu.modifiers.filter(ref="egg").update(is_default=True)
    (line,) = post(api).json()["items"]
    assert [each["id"] for each in line["modifiers"]] == ["small", "egg"]
    assert [each["id"] for each in line["modifiers"][1]["modifiers"]] == ["soft"]


@pytest.mark.usefixtures("menu")
def test_an_order_has_at_most_300_modifiers(api: Client) -> None:
    chosen = [{"id": "egg", "modifiers": [{"id": "soft"}] * 20} for _ in range(20)]
    assert refused(post(api, *chosen)) == [("items", "An order has at most 300 modifiers.")]


def test_all_wrong_modifiers_of_all_lines_are_named(api: Client, menu: Menu) -> None:
    menu.modifiers.filter(ref="small").update(is_default=False)
    MenuItem.objects.update(stock=1)
    lines = [
        {"menu_item_id": "margherita", "quantity": 1, "modifiers": modifiers} for modifiers in ([], [{"id": "x"}])
    ]
    response = api.post("/api/v1/orders", builders.order_body(items=lines), content_type="application/json")
    assert refused(response) == [
        ("items[0].modifiers", "Choose 1 of `size`: small, large."),
        ("items[1].modifiers[0].id", "There is no `x` among the modifiers of `margherita`."),
        ("items[1].modifiers", "Choose 1 of `size`: small, large."),
        ("items[0].quantity", "Only 1 of `margherita` is left."),
    ]
