"""Writing the menu over the management API: the whole document, or some columns of a dish."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Event, Venue
from orders.menu import stock
from orders.models import DishPhoto, ItemModifierGroup, Menu, MenuItem, Modifier, ModifierGroup
from tests.support import builders
from tests.support.query_counts import costing

MENU = "/api/v1/menu"
SIZE = {
    "id": "size",
    "name": "Size",
    "min_choices": 1,
    "modifiers": [{"name": "Regular", "is_default": True}, {"name": "Large", "price": "3.00"}],
}


def put(api: Client, document: Any, query: str = "", **headers: str) -> Any:
    return api.put(f"{MENU}{query}", document, content_type="application/json", headers=headers)


def patch(api: Client, ref: str, changes: Any) -> Any:
    return api.patch(f"{MENU}/items/{ref}", changes, content_type="application/json")


def dish(name: str, price: str = "9.50", **members: Any) -> dict[str, Any]:
    return {"name": name, "price": price} | members


def document(*items: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"categories": [{"name": "Dishes", "items": list(items)}]} | members


def events(venue: Venue) -> list[tuple[str, Any]]:
    """The types of the venue's events about the menu, each with the id of its dish or the number of dishes."""
    rows = Event.objects.filter(venue=venue, type__startswith="menu.").order_by("id").values_list("type", "record")
    return [(kind, record["id"] if kind == "menu.item_sold_out" else record["items"]) for kind, record in rows]


def whole_menu(venue: Venue) -> Menu:
    """A menu with all that there can be on one."""
    menu = builders.menu(venue)
    builders.dish(menu, "cola", "3.00", stock=7, station="bar", prep_minutes=2, takeaway_tax_percent="5.5", position=4)
    builders.dish(menu, "menu", "12.00", diets=["vegan"], translations={"da": {"name": "Menu"}}, position=9)
    size = menu.modifier_groups.create(ref="size", name="Size", min_choices=1, translations={"da": {"name": "Str"}})
    drinks = menu.modifier_groups.create(ref="drinks", name="Drinks", max_choices=2)
    for position, name in enumerate(("regular", "large")):
        size.modifiers.create(menu=menu, ref=name, name=name, is_default=not position, position=position * 3)
    cola = menu.items.get(ref="cola")
    drinks.modifiers.create(menu=menu, ref="a-cola", name="Cola", price_delta="-0.50", item=cola, nested_group=size)
    for position, group in enumerate((size, drinks)):
        ItemModifierGroup.objects.create(menu=menu, item=menu.items.get(ref="menu"), group=group, position=position)
    return menu


@pytest.mark.django_db
def test_what_was_read_can_be_sent_back_and_changes_nothing(api: Client, venue: Venue) -> None:
    menu = whole_menu(venue)
    menu.items.filter(ref="cola").update(photo=DishPhoto.objects.create(created_at=timezone.now()))
    read = api.get(MENU)
    unchanged: dict[str, Any] = {"added": [], "changed": {}, "removed": []}
    assert put(api, read.json(), "?dry_run=true").json() == {
        "object": "menu_changes",
        "is_published": True,
        "categories": unchanged,
        "items": unchanged,
        "modifier_groups": unchanged,
        "modifiers": unchanged,
    }
    written = put(api, read.json(), **{"If-Match": read["ETag"]})
    assert (written.status_code, written.json(), written["ETag"]) == (200, read.json(), read["ETag"])
    assert events(venue) == []


@pytest.mark.django_db
def test_a_document_becomes_the_menu(api: Client, venue: Venue) -> None:
    sent = document(
        dish("Crème brûlée", "6.50", tax_percent="10", allergens=["milk", "eggs"], translations={"da": {"name": "B"}}),
        dish("Pizza", "9.50", id="pizza", modifier_groups=["size"], stock=3, diets=["vegetarian"], station="pizza"),
        modifier_groups=[SIZE],
        is_published=True,
    )
    answer = put(api, sent)
    assert answer.status_code == 200
    assert answer.json() == api.get(MENU).json()
    assert answer["ETag"] == api.get(MENU)["ETag"]
    shown = answer.json()
    assert (shown["is_published"], shown["categories"][0]["items"][0]) == (
        True,
        {
            "id": "creme-brulee",
            "name": "Crème brûlée",
            "description": "",
            "price": "6.50",
            "tax_percent": "10",
            "takeaway_tax_percent": None,
            "allergens": ["milk", "eggs"],
            "diets": [],
            "photo": None,
            "is_available": True,
            "is_sold_out": False,
            "sold_out_until": None,
            "station": "",
            "prep_minutes": None,
            "stock": None,
            "translations": {"da": {"name": "B"}},
            "modifier_groups": [],
        },
    )
    assert shown["modifier_groups"] == [
        {
            "id": "size",
            "name": "Size",
            "min_choices": 1,
            "max_choices": 1,
            "translations": {},
            "modifiers": [
                {
                    "id": ref,
                    "name": ref.title(),
                    "price": price,
                    "is_default": is_default,
                    "is_available": True,
                    "allergens": [],
                    "menu_item_id": None,
                    "modifier_group": None,
                    "translations": {},
                }
                for ref, price, is_default in (("regular", "0.00", True), ("large", "3.00", False))
            ],
        }
    ]
    assert events(venue) == [("menu.updated", 2)]
    # Once more changes nothing: the ids that are derived are the same.
    assert put(api, sent)["ETag"] == answer["ETag"]
    assert events(venue) == [("menu.updated", 2)]


@pytest.mark.django_db
def test_dishes_keep_their_photo_and_stock_and_the_missing_are_removed(api: Client, venue: Venue) -> None:
    menu = whole_menu(venue)
    kept, gone = (DishPhoto.objects.create(created_at=timezone.now()) for _ in range(2))
    menu.items.filter(ref="cola").update(photo=kept)
    menu.items.filter(ref="menu").update(photo=gone)
    before = menu.items.get(ref="cola").pk
    sent = document(dish("Water", "2.00"), dish("Cola light", "3.50", id="cola"))
    changes = put(api, sent, "?dry_run=true").json()
    assert {kind: changes[kind] for kind in ("categories", "items", "modifier_groups", "modifiers")} == {
        "categories": {"added": [], "changed": {}, "removed": []},
        "items": {
            "added": ["water"],
            "changed": {"cola": ["tax_percent", "takeaway_tax_percent", "station", "prep_minutes", "name", "price"]},
            "removed": ["margherita", "menu"],
        },
        "modifier_groups": {"added": [], "changed": {}, "removed": ["drinks", "size"]},
        "modifiers": {"added": [], "changed": {}, "removed": ["a-cola", "regular", "large"]},
    }
    assert menu.items.count() == 3
    assert put(api, sent).status_code == 200
    assert list(menu.items.order_by("position").values_list("ref", flat=True)) == ["water", "cola"]
    cola = menu.items.get(ref="cola")
    assert (cola.pk, cola.photo_id, cola.stock, cola.station) == (before, kept.pk, 7, "")
    assert not ModifierGroup.objects.exists()
    assert not Modifier.objects.exists()


@pytest.mark.django_db
def test_the_order_of_the_document_is_that_of_the_menu(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue, bufala="12.00", marinara="7.00")
    read = api.get(MENU).json()
    read["categories"][0]["items"].reverse()
    read["categories"].insert(0, {"name": "Drinks", "items": [dish("Water", "2.00")]})
    changes = put(api, read, "?dry_run=true").json()
    assert changes["items"]["changed"] == {"marinara": ["position"], "bufala": ["position"]}
    written = put(api, read).json()["categories"]
    assert [[item["id"] for item in category["items"]] for category in written] == [
        ["water"],
        ["marinara", "margherita", "bufala"],
    ]
    assert list(menu.categories.order_by("position").values_list("name", flat=True)) == ["Drinks", "Dishes"]


@pytest.mark.django_db
def test_every_problem_of_a_document_is_named_and_nothing_is_written(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    sent = {
        "currency": "USD",
        "categories": [
            {"name": "A", "items": [dish("X", "1.005"), dish("Y", id="y", modifier_groups=["sizes"])]},
            {"name": "A", "served_from": "10:00", "items": [dish("Z", id="y")]},
        ],
        "modifier_groups": [
            {"id": "a", "name": "A", "min_choices": 2, "modifiers": [{"name": "M", "modifier_group": "a"}]},
            {
                "name": "B",
                "max_choices": 1,
                "modifiers": [{"name": "N", "is_default": True, "menu_item_id": "no"}] * 2,
            },
            {"id": "c", "name": "C", "modifiers": [{"name": "O", "modifier_group": "d", "price": "0.005"}]},
        ],
    }
    assert sorted(builders.problems_of(put(api, sent))) == [
        ("categories[0].items[0].price", "An amount in EUR has at most 2 decimals."),
        ("categories[0].items[1].modifier_groups[0]", "There is no modifier group `sizes`."),
        ("categories[1].items[0].id", "`y` is the id of `categories[0].items[1]`, too."),
        ("categories[1].name", "Another category has this name."),
        ("categories[1].served_until", "Give two different times, or none."),
        ("currency", "This is `EUR` at this venue; it is a setting of the venue."),
        ("modifier_groups[0].max_choices", "At least 2 and at most 1 cannot be chosen."),
        ("modifier_groups[0].modifiers[0].modifier_group", "The modifiers of `a` ask for a group themselves."),
        ("modifier_groups[1].modifiers", "2 are chosen by default; none or 0 to 1 can be."),
        ("modifier_groups[1].modifiers[0].menu_item_id", "There is no dish `no`."),
        ("modifier_groups[1].modifiers[1].menu_item_id", "There is no dish `no`."),
        ("modifier_groups[2].modifiers[0].modifier_group", "There is no modifier group `d`."),
        ("modifier_groups[2].modifiers[0].price", "An amount in EUR has at most 2 decimals."),
    ]
    assert list(MenuItem.objects.values_list("ref", flat=True)) == ["margherita"]


@pytest.mark.parametrize(
    ("members", "param", "message"),
    [
        ({"price": 9.5}, "price", "This must be a string."),
        ({"price": "-1.00"}, "price", 'This must be an amount as text, with a point: "2.50".'),
        ({"tax_percent": "101"}, "tax_percent", "This must be a percentage from 0 to 100 as text, with a point:"),
        ({"stock": -1}, "stock", "This must be at least 0."),
        ({"prep_minutes": 0}, "prep_minutes", "This must be at least 1."),
        ({"diets": ["paleo"]}, "diets[0]", "This must be one of: vegetarian, vegan, gluten_free,"),
        ({"translations": {"danish": {}}}, "translations.danish", "A language is a tag such as `da` or `de-AT`."),
        ({"translations": {"da": {"title": "x"}}}, "translations.da.title", "Known texts: name, description."),
        ({"translations": {"da": {"name": "x" * 201}}}, "translations.da.name", "This must be at most 200 characters"),
        ({"translations": {f"a{chr(97 + n)}": {} for n in range(21)}}, "translations", "This must have at most 20"),
        ({"photo": "x"}, "photo", "This must be an object or null."),
    ],
    ids=lambda part: part if isinstance(part, str) and " " not in part else "",
)
@pytest.mark.django_db
def test_a_bad_member_of_a_dish_is_refused_by_name(
    api: Client, venue: Venue, members: dict[str, Any], param: str, message: str
) -> None:
    ((found, text),) = builders.problems_of(put(api, document(dish("Water"), dish("Pizza") | members)))
    assert found == f"categories[0].items[1].{param}"
    assert text.startswith(message)
    assert not Menu.objects.exists()


@pytest.mark.django_db
def test_an_empty_menu_is_not_published(api: Client, venue: Venue) -> None:
    message = "A published menu needs a dish; otherwise every order is rejected."
    assert builders.problems_of(put(api, document(is_published=True))) == [("categories", message)]
    builders.menu(venue)
    assert builders.problems_of(put(api, document())) == [("categories", message)]
    assert put(api, document(is_published=False)).status_code == 200
    assert not MenuItem.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_2000_dishes_are_a_menu_and_2001_are_too_many(api: Client, venue: Venue) -> None:
    dishes = [dish("Crème brûlée", description="x" * 400) for _ in range(2_001)]
    halves = {"categories": [{"name": "A", "items": dishes[:1_500]}, {"name": "B", "items": dishes[1_500:]}]}
    assert builders.problems_of(put(api, halves)) == [("categories", "A menu can have at most 2,000 dishes here.")]
    halves["categories"][1]["items"] = dishes[1_501:]
    with costing(29):
        assert put(api, halves).status_code == 200
    assert MenuItem.objects.filter(ref="creme-brulee-2000").exists()


@pytest.mark.django_db
def test_a_menu_that_has_changed_is_412_and_stays(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    tag = api.get(MENU)["ETag"]
    assert patch(api, "margherita", {"price": "10.00"}).status_code == 200
    for query in ("", "?dry_run=true"):
        answer = put(api, document(dish("Water")), query, **{"If-Match": tag})
        assert (answer.status_code, answer.json()["error"]["code"]) == (412, "version_conflict")
    assert MenuItem.objects.get().ref == "margherita"


@pytest.mark.django_db
def test_dry_run_is_true_or_false(api: Client) -> None:
    assert builders.problems_of(put(api, document(), "?dry_run=yes")) == [
        ("dry_run", "This must be one of: true, false.")
    ]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_menu", [True, False])
def test_of_two_documents_at_once_one_is_the_menu_whole(has_menu: bool) -> None:
    venue = builders.venue()
    if has_menu:
        builders.menu(venue)
    start = Barrier(2)
    apis = [builders.client(venue) for _ in range(2)]
    tag = apis[0].get(MENU)["ETag"]

    def attempt(number: int) -> int:
        dishes = [dish(f"Dish {number} {place}", id=f"{number}-{place}") for place in range(40)]
        start.wait()
        try:
            headers = {"If-Match": tag} if has_menu else {}
            return int(put(apis[number], document(*dishes), **headers).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(attempt, range(2)))
    assert sorted(statuses) == [200, 412 if has_menu else 200]
    refs = list(MenuItem.objects.order_by("position").values_list("ref", flat=True))
    winner = refs[0][0]
    assert refs == [f"{winner}-{place}" for place in range(40)]
    assert len(events(venue)) == statuses.count(200)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_menu_that_is_replaced_while_it_is_read_is_read_whole() -> None:
    venue = builders.venue()
    api = builders.client(venue)
    put(api, document(dish("One", id="one", modifier_groups=["size"]), modifier_groups=[SIZE]))
    before = api.get(MENU)
    replaced: list[int] = []

    def replace() -> int:
        try:
            other = {"categories": [{"name": "Other", "items": [dish("Two", id="one")]}]}
            return int(put(builders.client(venue), other).status_code)
        finally:
            connection.close()

    def replace_after_categories(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if 'FROM "orders_menucategory"' in sql and not replaced:
            with ThreadPoolExecutor(1) as pool:
                replaced.append(pool.submit(replace).result())
        return result

    with connection.execute_wrapper(replace_after_categories):
        read = api.get(MENU)
    assert (replaced, read.json(), read["ETag"]) == ([200], before.json(), before["ETag"])
    assert api.get(MENU)["ETag"] != before["ETag"]


@pytest.mark.django_db
def test_a_name_of_a_category_is_translated(api: Client, venue: Venue) -> None:
    sent = document(dish("Pizza"))
    sent["categories"][0]["translations"] = {"da": {"name": "Retter"}}
    assert put(api, sent).json()["categories"][0]["translations"] == {"da": {"name": "Retter"}}
    assert put(api, sent, "?dry_run=true").json()["categories"]["changed"] == {}
    sent["categories"][0]["translations"] = {"da": {"description": "x"}}
    assert builders.problems_of(put(api, sent)) == [
        ("categories[0].translations.da.description", "Known texts: name.")
    ]


# Ids
@pytest.mark.parametrize("ref", [" a", "a ", "\u00a0a", "a\u2003"])
@pytest.mark.django_db
def test_an_id_with_outer_white_space_is_refused_by_name(api: Client, venue: Venue, ref: str) -> None:
    message = "An id has no white space at its ends."
    group = SIZE | {"modifiers": [{"id": ref, "name": "Regular"}]}
    sent = document(dish("Pizza", id=ref), modifier_groups=[group])
    assert builders.problems_of(put(api, sent)) == [
        ("categories[0].items[0].id", message),
        ("modifier_groups[0].modifiers[0].id", message),
    ]
    assert not Menu.objects.exists()


@pytest.mark.parametrize("ref", ["a/", "/", "a//", "/a", "a b", "a/b/", "a?b", "a#b", "a%2Fb", "..", "./a"])
@pytest.mark.django_db
def test_an_id_that_can_be_created_can_be_addressed(api: Client, venue: Venue, ref: str) -> None:
    assert put(api, document(dish("A", id="a"), dish("B", id=ref))).status_code == 200
    answer = patch(api, quote(ref, safe=""), {"stock": 1})
    assert (answer.status_code, answer.json()["id"]) == (200, ref)
    assert MenuItem.objects.get(stock=1).ref == ref


# One dish
@pytest.mark.django_db
def test_a_change_sets_what_it_names_and_answers_the_dish(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    answer = patch(api, "margherita", {"price": "10.50", "stock": 12})
    assert (answer.status_code, answer.json()) == (200, api.get(MENU).json()["categories"][0]["items"][0])
    item = menu.items.get()
    assert (str(item.price), item.stock, item.is_available, item.sold_out_on) == ("10.500", 12, True, None)
    assert events(venue) == [("menu.updated", 1)]
    assert patch(api, "margherita", {"price": "10.50"}).status_code == 200
    assert events(venue) == [("menu.updated", 1)]
    assert patch(api, "margherita", {"stock": None, "is_available": False}).json()["stock"] is None
    assert events(venue) == [("menu.updated", 1)] * 2


@time_machine.travel(datetime(2026, 11, 21, 23, 30, tzinfo=UTC), tick=False)
@pytest.mark.django_db
def test_a_dish_that_becomes_sold_out_is_one_event(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    sold_out, updated = ("menu.item_sold_out", "margherita"), ("menu.updated", 1)
    assert patch(api, "margherita", {"sold_out": "today"}).json()["is_sold_out"] is True
    # It is the next day in Rome.
    assert menu.items.get().sold_out_on == datetime(2026, 11, 22).date()  # noqa: DTZ001
    assert patch(api, "margherita", {"sold_out": "today", "stock": 0}).json()["is_sold_out"] is True
    assert events(venue) == [sold_out, updated]
    assert patch(api, "margherita", {"sold_out": None, "stock": 2}).json()["is_sold_out"] is False
    assert patch(api, "margherita", {"stock": 0, "price": "8.00"}).json()["is_sold_out"] is True
    assert events(venue) == [sold_out, updated, updated, sold_out, updated]
    record = Event.objects.filter(type="menu.item_sold_out").latest("id").record
    assert (record["price"], record["is_sold_out"], record["stock"]) == ("8.00", True, 0)


@pytest.mark.parametrize(
    ("changes", "param", "message"),
    [
        ({}, None, "Name at least one of: price, is_available, stock, sold_out, sold_out_until."),
        ({"price": "9.505"}, "price", "An amount in EUR has at most 2 decimals."),
        ({"price": None}, "price", "This must not be null."),
        ({"stock": 1.5}, "stock", "This must be an integer."),
        ({"stock": 1_000_001}, "stock", "This must be at most 1000000."),
        ({"sold_out": "tomorrow"}, "sold_out", "This must be one of: today."),
        ({"name": "x"}, "name", "Unknown field `name`. Known: price, is_available, stock, sold_out, sold_out_until."),
    ],
    ids=["nothing", "decimals", "null", "fraction", "stock", "sold-out", "unknown"],
)
@pytest.mark.django_db
def test_a_bad_change_is_refused_by_name(
    api: Client, venue: Venue, changes: Any, param: str | None, message: str
) -> None:
    builders.menu(venue)
    answer = patch(api, "margherita", changes)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, param)
    assert error["message"].removeprefix(f"`{param}`: ") == message
    assert events(venue) == []


@pytest.mark.django_db
def test_an_unknown_dish_is_404_and_an_id_may_have_a_slash(api: Client, venue: Venue, other_venue: Venue) -> None:
    builders.dish(builders.menu(venue), "a/b", "3.00")
    builders.dish(builders.menu(other_venue), "theirs")
    for ref in ("theirs", "nothing", "x" * 65, "a%00"):
        answer = patch(api, ref, {"stock": 1})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert patch(api, "a%2Fb", {"stock": 1}).json()["id"] == "a/b"


@pytest.mark.django_db
def test_a_change_costs_the_same_for_any_menu(api: Client, venue: Venue) -> None:
    menu = whole_menu(venue)
    for number in range(20):
        builders.dish(menu, f"dish-{number}")
    with costing(10):
        assert patch(api, "cola", {"price": "3.20"}).status_code == 200


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_stock_that_is_set_while_orders_take_portions_loses_none() -> None:
    """The number that is set is that of the portions left then: orders that come later take theirs from it."""
    venue = builders.venue()
    builders.menu(venue)
    MenuItem.objects.update(stock=1_000)
    start = Barrier(3)
    taken: list[int] = []

    def order(_: int) -> None:
        api = builders.client(venue)
        start.wait()
        try:
            for _ in range(8):
                assert (
                    api.post("/api/v1/orders", builders.order_body(), content_type="application/json").status_code
                    == 201
                )
        finally:
            connection.close()

    def count() -> None:
        api = builders.client(venue)
        start.wait()
        try:
            taken.append(patch(api, "margherita", {"stock": 100}).json()["stock"])
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        work = [pool.submit(order, number) for number in range(2)] + [pool.submit(count)]
        for each in work:
            each.result()
    # Each order takes two; those before the change are not in the number, those after it are.
    at_change = Event.objects.get(type="menu.updated")
    later = Event.objects.filter(type="order.created", created_at__gt=at_change.created_at).count()
    left = MenuItem.objects.get().stock
    assert left is not None
    assert (100 - left) % 2 == 0
    assert 0 <= (100 - left) // 2 <= 16
    assert later <= 16


@pytest.mark.django_db
def test_a_new_stock_is_what_later_orders_take_from(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    menu.items.update(stock=5)
    stock.take_portions(venue, menu.pk, {"margherita": 2}, actor="system", now=timezone.now())
    patch(api, "margherita", {"stock": 10})
    stock.take_portions(venue, menu.pk, {"margherita": 3}, actor="system", now=timezone.now())
    assert menu.items.get().stock == 7


@pytest.mark.django_db
def test_modifiers_of_one_name_get_numbered_ids_and_5000_are_a_menu(api: Client) -> None:
    groups = [{"name": f"G{number}", "modifiers": [{"name": "Ja"}] * 50} for number in range(100)]
    assert put(api, document(dish("Pizza"), modifier_groups=groups), "?dry_run=true").status_code == 200
    groups[0] = groups[0] | {"modifiers": [{"name": "Ja"}] * 51}
    assert builders.problems_of(put(api, document(dish("Pizza"), modifier_groups=groups))) == [
        ("modifier_groups", "A menu can have at most 5,000 modifiers here.")
    ]
