"""The menu on the dashboard: written, sold out for today, published."""

import html
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Event, Venue
from orders.models import DishPhoto, ItemModifierGroup, Menu, MenuCategory, MenuItem, ModifierGroup
from tests.support import builders, users
from tests.support.html import form_of

NASTY = "<script>alert(1)</script>"


def root(venue: Venue) -> str:
    """Where the menu is."""
    return f"/dashboard/{venue.public_id}/menu"


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


def refs(client: Client, venue: Venue) -> list[str]:
    """The ids of the menu, in their order."""
    return re.findall(r"<td[^>]*><code>([^<]+)</code>", text(client.get(f"{root(venue)}/preview")))


def today(venue: Venue) -> date:
    """The day that it is at the venue."""
    return timezone.now().astimezone(ZoneInfo(venue.timezone)).date()


@pytest.fixture
def manager(venue: Venue) -> Client:
    """Somebody who writes the menu."""
    return users.member(venue, "manager")


@pytest.mark.exhaustive
def test_the_menu_costs_the_same_for_one_dish_and_for_many(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for number in (0, 30):
        for more in range(number):
            photo = DishPhoto.objects.create(created_at=timezone.now())
            builders.dish(menu, f"dish{more}", photo=photo, allergens=["milk"])
        with CaptureQueriesContext(connection) as captured:
            assert manager.get(root(venue)).status_code == 200
        # Session, user, venue, part; menu, categories, dishes; other venues.
        assert len(captured) == 8


def test_the_preview_says_of_each_dish_whether_it_can_be_ordered(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue, margherita="9.50", tiramisu="6.50", acqua="2.00")
    menu.items.filter(ref="tiramisu").update(sold_out_on=today(venue))
    menu.items.filter(ref="acqua").update(is_available=False)
    states = re.findall(r'<td class="end">([^<]*)<', text(manager.get(f"{root(venue)}/preview")))
    assert sorted(states) == ["available", "hidden", "sold out today"]


def test_looking_makes_no_menu(manager: Client, venue: Venue) -> None:
    assert "No dishes yet" in text(manager.get(root(venue)))
    assert manager.get(f"{root(venue)}/categories/new").status_code == 200
    assert "Dishes belong to categories. Add a category first." in text(
        manager.get(f"{root(venue)}/items/new", follow=True)
    )
    assert not Menu.objects.exists()


@pytest.mark.exhaustive
def test_a_menu_is_written_published_and_ordered_from(manager: Client, venue: Venue) -> None:
    assert manager.post(f"{root(venue)}/publish", {"to": "published"}, follow=True).status_code == 200
    assert not Menu.objects.filter(is_published=True).exists()
    assert manager.post(f"{root(venue)}/categories/new", {"name": NASTY}).status_code == 302
    category = MenuCategory.objects.get()
    dish = {"name": NASTY, "ref": "margherita", "category": category.pk, "price": "9.50", "tax_percent": "10"}
    assert manager.post(f"{root(venue)}/items/new", dish | {"is_available": "on"}).status_code == 302
    page = text(manager.get(root(venue)))
    assert NASTY not in page
    assert "€9.50" in page
    result = text(manager.post(f"{root(venue)}/publish", {"to": "published"}, follow=True))
    assert "The menu was published. Orders are now limited to its dishes and use its prices." in result
    answer = builders.client(venue).post("/api/v1/orders", builders.order_body(), content_type="application/json")
    assert (answer.status_code, answer.json()["total"]) == (201, "19.00")
    result = text(manager.post(f"{root(venue)}/publish", {"to": "unpublished"}, follow=True))
    assert "The menu was unpublished. Orders accept any item id again." in result


def test_an_empty_menu_is_not_published(manager: Client, venue: Venue) -> None:
    result = text(manager.post(f"{root(venue)}/publish", {"to": "published"}, follow=True))
    assert "The menu has no dishes, so every order would be rejected. Add a dish first." in result
    assert not Menu.objects.filter(is_published=True).exists()


def test_price_with_a_decimal_comma_is_that_price(manager: Client, venue: Venue) -> None:
    dish = {"name": "Bufala", "ref": "bufala", "category": builders.menu(venue).categories.get().pk}
    sent = dish | {"price": "9,50", "tax_percent": "5,5"}
    assert manager.post(f"{root(venue)}/items/new", sent).status_code == 302
    made = MenuItem.objects.get(ref="bufala")
    assert (made.price, made.tax_percent) == (Decimal("9.50"), Decimal("5.5"))


@pytest.mark.exhaustive
def test_id_of_a_dish_is_derived_from_its_name_unique_and_stable(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    dish = {"ref": "", "category": menu.categories.get().pk, "price": "9", "tax_percent": "0"}
    for name in ("Crème brûlée", "Crème Brulee!", "麻婆豆腐", "★"):
        assert manager.post(f"{root(venue)}/items/new", dish | {"name": name}).status_code == 302
    derived = list(menu.items.exclude(ref="margherita").order_by("position").values_list("ref", flat=True))
    assert derived == ["creme-brulee", "creme-brulee-2", "mapodoufu", "dish"]
    made = menu.items.get(ref="creme-brulee")
    sent = dish | {"name": "Crema catalana", "is_available": "on"}
    assert manager.post(f"{root(venue)}/items/{made.pk}", sent).status_code == 302
    made.refresh_from_db()
    assert (made.name, made.ref) == ("Crema catalana", "creme-brulee")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"price": "9.505"}, "A price in EUR has at most 2 decimals."),
        ({"price": "1,000"}, "Enter a number such as 9.50."),
        ({"price": "-1"}, "Constraint “menu_item_price_not_negative” is violated."),
        ({"price": "1e400"}, "Ensure that there are no more than"),
        ({"tax_percent": "101"}, "Constraint “menu_item_tax_from_0_to_100_percent” is violated."),
        ({"ref": "margherita"}, "A dish with this id already exists."),
        ({"ref": "\0"}, "Null characters are not allowed."),
        ({"category": "nonsense"}, "not a valid"),
    ],
    ids=["decimals", "comma", "negative", "infinite", "tax", "twice", "nul", "category"],
)
def test_a_dish_is_refused_by_the_rules_of_the_model(
    manager: Client, venue: Venue, fields: dict[str, str], message: str
) -> None:
    menu = builders.menu(venue)
    dish = {
        "name": "Bufala",
        "ref": "bufala",
        "category": menu.categories.get().pk,
        "price": "12",
        "tax_percent": "10",
    }
    answer = manager.post(f"{root(venue)}/items/new", dish | fields)
    assert answer.status_code == 400
    assert message in text(answer)
    assert 'value="Bufala"' in text(answer)
    assert menu.items.count() == 1


@pytest.mark.exhaustive
def test_the_kitchen_sells_out_and_nothing_else(venue: Venue) -> None:
    menu = builders.menu(venue)
    item = menu.items.get()
    kitchen = users.member(venue, "kitchen")
    page = text(kitchen.get(root(venue)))
    assert "Mark sold out" in page
    assert "Add a dish" not in page
    assert "Hide" not in page
    path = f"{root(venue)}/items/{item.pk}"
    part = text(kitchen.post(f"{path}/sold-out", {"to": "out"}, headers={"hx-request": "true"}))
    assert "Margherita is sold out today." in part
    assert "<html" not in part
    item.refresh_from_db()
    assert (item.sold_out_on, item.is_available) == (today(venue), True)
    assert "Margherita is available again." in text(kitchen.post(f"{path}/sold-out", {"to": "back"}, follow=True))
    item.refresh_from_db()
    assert item.sold_out_on is None
    for tail in ("", "/remove"):
        assert kitchen.get(f"{path}{tail}").status_code == 403
    for tail in ("/switch", "/move", "/remove", ""):
        assert kitchen.post(f"{path}{tail}", {"to": "off"}).status_code == 403
    for tail in ("upload", "menu.csv", "preview", "template.csv", "categories/new"):
        assert kitchen.get(f"{root(venue)}/{tail}").status_code == 403
    assert kitchen.post(f"{root(venue)}/publish", {"to": "unpublished"}).status_code == 403
    menu.refresh_from_db()
    assert (menu.is_published, menu.items.get().is_available) == (True, True)


@pytest.mark.exhaustive
def test_back_on_leaves_switched_off_what_the_manager_switched_off(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    path = f"{root(venue)}/items/{item.pk}"
    assert "Margherita is now hidden." in text(manager.post(f"{path}/switch", {"to": "off"}, follow=True))
    manager.post(f"{path}/sold-out", {"to": "out"})
    manager.post(f"{path}/sold-out", {"to": "back"})
    item.refresh_from_db()
    assert (item.is_available, item.sold_out_on) == (False, None)


@pytest.mark.exhaustive
def test_dishes_and_categories_are_moved(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue, bufala="12", capricciosa="11")
    assert refs(manager, venue) == ["bufala", "capricciosa", "margherita"]
    last = menu.items.get(ref="margherita")
    path = f"{root(venue)}/items/{last.pk}/move"
    assert "Margherita was moved up." in text(manager.post(path, {"to": "up"}, follow=True))
    assert refs(manager, venue) == ["bufala", "margherita", "capricciosa"]
    manager.post(path, {"to": "up"})
    assert "Margherita is already first." in text(manager.post(path, {"to": "up"}, follow=True))
    assert refs(manager, venue) == ["margherita", "bufala", "capricciosa"]
    drinks = menu.categories.create(name="Drinks", position=1)
    builders.dish(menu, "water", category=drinks)
    result = text(manager.post(f"{root(venue)}/categories/{drinks.pk}/move", {"to": "up"}, follow=True))
    assert "Drinks was moved up." in result
    assert refs(manager, venue)[0] == "water"


def test_a_change_in_the_panel_of_a_dish_leaves_the_panel_open(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue, bufala="12").items.get(ref="bufala")
    panel = f'<details class="more" open><summary class="button quiet small" id="mi-{item.pk}"'
    assert panel not in text(manager.get(root(venue)))
    for tail, sent in (("move", {"to": "down"}), ("stock", {"stock": "3"}), ("sold-out", {"until": "23:59"})):
        part = text(manager.post(f"{root(venue)}/items/{item.pk}/{tail}", sent, headers={"hx-request": "true"}))
        assert part.count('<details class="more" open>') == 1
        assert panel in part


def test_a_folded_field_with_an_error_is_in_view(manager: Client, venue: Venue) -> None:
    dish = {"name": "Bufala", "category": builders.menu(venue).categories.get().pk, "price": "9", "tax_percent": "0"}
    assert "<details open>" not in text(manager.get(f"{root(venue)}/items/new"))
    refused = text(manager.post(f"{root(venue)}/items/new", dish | {"stock": "-1"}))
    assert "<details open><summary>Kitchen and stock" in refused


def test_category_with_dishes_cannot_be_deleted(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    path = f"{root(venue)}/categories/{menu.categories.get().pk}/remove"
    result = text(manager.post(path, follow=True))
    assert "Dishes has 1 dish. Move or delete them first." in result
    manager.post(f"{root(venue)}/items/{menu.items.get().pk}/remove")
    assert "Deleted: Dishes." in text(manager.post(path, follow=True))
    assert not menu.categories.exists()


@pytest.mark.exhaustive
def test_concurrent_changes_of_one_price_are_reported(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    shown = {
        "initial-name": item.name,
        "initial-ref": item.ref,
        "initial-category": str(item.category_id),
        "initial-price": "9.50",
        "initial-tax_percent": "10",
        "initial-description": "",
        "initial-is_available": "True",
    }
    mine = {"name": item.name, "ref": item.ref, "category": str(item.category_id), "price": "11.00",
            "tax_percent": "10", "is_available": "on"}  # fmt: skip
    MenuItem.objects.update(price="10.00", name="Pizza Margherita")
    answer = manager.post(f"{root(venue)}/items/{item.pk}", shown | mine)
    assert answer.status_code == 400
    assert "Another user has changed this to “10.00”. Save again to overwrite it." in text(answer)
    again = manager.post(f"{root(venue)}/items/{item.pk}", shown | mine | {"initial-price": "10.00"})
    assert again.status_code == 302, again.context["form"].errors
    item.refresh_from_db()
    assert (str(item.price), item.name) == ("11.000", "Pizza Margherita")


@pytest.mark.exhaustive
def test_another_venues_menu_is_not_there(manager: Client, venue: Venue, other_venue: Venue) -> None:
    menu = builders.menu(other_venue)
    item, category = menu.items.get(), menu.categories.get()
    for path in (f"items/{item.pk}", f"items/{item.pk}/remove", f"categories/{category.pk}"):
        for whose in (venue, other_venue):
            assert manager.get(f"{root(whose)}/{path}").status_code == 404
    acts: list[Callable[[], Any]] = [
        lambda: manager.post(f"{root(venue)}/items/{item.pk}/sold-out", {"to": "out"}),
        lambda: manager.post(f"{root(venue)}/items/{item.pk}/switch", {"to": "off"}),
        lambda: manager.post(f"{root(venue)}/items/{item.pk}/move", {"to": "up"}),
        lambda: manager.post(f"{root(venue)}/items/{item.pk}/remove"),
        lambda: manager.post(f"{root(venue)}/categories/{category.pk}/remove"),
        lambda: manager.post(f"{root(other_venue)}/publish", {"to": "unpublished"}),
    ]
    assert [act().status_code for act in acts] == [404] * 6
    menu.refresh_from_db()
    item.refresh_from_db()
    assert (menu.is_published, item.is_available, item.sold_out_on) == (True, True, None)


def events(venue: Venue) -> list[str]:
    """The types of the venue's events about the menu."""
    rows = Event.objects.filter(venue=venue, type__startswith="menu.").order_by("id")
    return list(rows.values_list("type", flat=True))


@pytest.mark.exhaustive
def test_each_change_is_one_event(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue, bufala="12")
    item, category = menu.items.get(ref="bufala"), menu.categories.get()
    dish = {"name": "Bufala", "ref": "bufala", "category": category.pk, "price": "12", "tax_percent": "10"}
    dish |= {"is_available": "on"}
    path, updated, sold_out = f"{root(venue)}/items/{item.pk}", "menu.updated", "menu.item_sold_out"
    for page, sent, expected in (
        (f"{path}/sold-out", {"to": "out"}, [sold_out]),
        (f"{path}/sold-out", {"to": "out"}, []),
        (f"{path}/sold-out", {"to": "back"}, [updated]),
        (f"{path}/switch", {"to": "off"}, [updated]),
        (f"{path}/switch", {"to": "on"}, [updated]),
        (f"{path}/stock", {"stock": "3"}, [updated]),
        (f"{path}/stock", {"stock": "3"}, []),
        (f"{path}/stock", {"stock": "0"}, [sold_out]),
        (f"{path}/stock", {"stock": ""}, [updated]),
        (f"{path}/move", {"to": "down"}, [updated]),
        (path, dish, []),
        (path, dish | {"price": "13"}, [updated]),
        (f"{root(venue)}/categories/new", {"name": "Drinks"}, [updated]),
        (f"{root(venue)}/publish", {"to": "unpublished"}, [updated]),
        (f"{root(venue)}/publish", {"to": "unpublished"}, []),
        (f"{path}/remove", {}, [updated]),
    ):
        before = len(events(venue))
        assert manager.post(page, sent).status_code == 302, page
        assert events(venue)[before:] == expected, (page, sent)
    assert Event.objects.filter(type=updated).latest("id").record == {
        "object": "menu",
        "is_published": False,
        "items": 1,
    }


@pytest.mark.exhaustive
def test_stock_is_set_in_the_list_and_bad_numbers_are_refused(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    path = f"{root(venue)}/items/{item.pk}/stock"
    assert "Margherita: 12 left." in text(manager.post(path, {"stock": "12"}, follow=True))
    for bad in ("-1", "x", "1.5", "1000001"):
        page = text(manager.post(path, {"stock": bad}, follow=True))
        assert "Not saved: portions are a whole number from 0 to 1,000,000, or empty." in page
        assert MenuItem.objects.get().stock == 12
    assert "Margherita: not counted." in text(manager.post(path, {"stock": ""}, follow=True))
    assert MenuItem.objects.get().stock is None


@pytest.mark.exhaustive
def test_a_dish_has_all_its_fields_in_the_form(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    for ref in ("size", "extras"):
        menu.modifier_groups.create(ref=ref, name=ref.title())
    sent = {
        "name": "Bufala",
        "ref": "",
        "category": menu.categories.get().pk,
        "price": "12",
        "tax_percent": "10",
        "takeaway_tax_percent": "5,5",
        "diets": ["vegan", "halal"],
        "station": "pizza",
        "prep_minutes": "20",
        "stock": "7",
        "groups": ["size", "extras"],
        "translations-language": ["da", "de", ""],
        "translations-name": ["Bøffel", "Büffel", ""],
        "translations-description": ["", "Mit Tomaten", ""],
        "is_available": "on",
    }
    assert manager.post(f"{root(venue)}/items/new", sent).status_code == 302
    item = menu.items.get(ref="bufala")
    assert (item.takeaway_tax_percent, item.diets, item.station, item.prep_minutes, item.stock) == (
        Decimal("5.5"),
        ["vegan", "halal"],
        "pizza",
        20,
        7,
    )
    assert item.translations == {"da": {"name": "Bøffel"}, "de": {"name": "Büffel", "description": "Mit Tomaten"}}
    assert [link.group.ref for link in item.item_modifier_groups.order_by("position")] == ["extras", "size"]
    page = text(manager.get(f"{root(venue)}/items/{item.pk}"))
    assert '<option value="pizza">' in page
    assert 'value="Büffel"' in page
    changed = sent | {"ref": "bufala", "groups": ["size"], "translations-language": ["da", "de", ""], "stock": ""}
    changed |= {"translations-name": ["", "Büffel", ""]}
    assert manager.post(f"{root(venue)}/items/{item.pk}", changed).status_code == 302
    item.refresh_from_db()
    assert (item.stock, item.translations) == (None, {"de": {"name": "Büffel", "description": "Mit Tomaten"}})
    assert [link.group.ref for link in item.item_modifier_groups.all()] == ["size"]
    answer = manager.post(f"{root(venue)}/items/{item.pk}", changed | {"translations-language": ["", "german", ""]})
    assert answer.status_code == 400
    assert "german: A language is a tag such as `da` or `de-AT`." in text(answer)
    assert 'value="german"' in text(answer)


def rows(*modifiers: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """The rows of modifiers in the form of a group."""
    form = {"rows-TOTAL_FORMS": str(len(modifiers)), "rows-INITIAL_FORMS": str(initial)}
    for number, row in enumerate(modifiers):
        filled = {"is_available": "on", "price_delta": "0.00"} | row
        form |= {f"rows-{number}-{name}": value for name, value in filled.items()}
    return form


@pytest.mark.exhaustive
def test_a_group_is_written_with_its_modifiers_and_deleted_when_nothing_uses_it(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    groups = f"{root(venue)}/groups"
    group = {"name": "Størrelse", "ref": "", "min_choices": "1", "max_choices": "1"}
    sent = group | rows(
        {"name": "Regular", "is_default": "on", "ORDER": "2"}, {"name": "Large", "price_delta": "3,50"}
    )
    assert manager.post(f"{groups}/new", sent).status_code == 302
    made = menu.modifier_groups.get()
    assert (made.ref, made.min_choices) == ("storrelse", 1)
    found = made.modifiers.order_by("position").values_list("ref", "price_delta", "is_default")
    assert list(found) == [("regular", 0, True), ("large", Decimal("3.5"), False)]
    assert events(venue) == ["menu.updated"]
    path = f"{groups}/{made.pk}"
    assert "Regular, Large" in text(manager.get(groups))
    ids = dict(made.modifiers.values_list("ref", "pk"))
    regular = {"id": ids["regular"], "name": "Regular", "ref": "regular", "is_default": "on", "ORDER": "2"}
    large = {"id": ids["large"], "name": "Large", "ref": "large", "ORDER": "1", "item": menu.items.get().pk}
    assert manager.post(path, group | {"ref": "size"} | rows(regular, large, initial=2)).status_code == 302
    assert list(made.modifiers.order_by("position").values_list("ref", flat=True)) == ["large", "regular"]
    refused = manager.post(
        path, group | {"ref": "size"} | rows(regular | {"DELETE": "on"}, large | {"DELETE": "on"}, initial=2)
    )
    assert refused.status_code == 400
    assert "1 must be chosen, and there are 0." in text(refused)
    item = menu.items.get()
    result = text(manager.post(f"{root(venue)}/items/{item.pk}/remove", follow=True))
    assert "Margherita is used by Størrelse: Large. Take it out there first." in result
    ItemModifierGroup.objects.create(menu=menu, item=item, group=made)
    result = text(manager.post(f"{path}/remove", follow=True))
    assert "Størrelse is used by Margherita. Take it out there first." in result
    ItemModifierGroup.objects.all().delete()
    assert "Deleted: Størrelse." in text(manager.post(f"{path}/remove", follow=True))
    assert not menu.modifiers.exists()


@pytest.mark.exhaustive
def test_the_form_of_a_group_costs_the_same_for_many_modifiers(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    group = menu.modifier_groups.create(ref="size", name="Size")
    for number in (1, 30):
        for more in range(number):
            group.modifiers.create(menu=menu, ref=f"m{number}-{more}", name="M")
        with CaptureQueriesContext(connection) as captured:
            assert manager.get(f"{root(venue)}/groups/{group.pk}").status_code == 200
        # Session, user, venue, part; menu, group, its modifiers, dishes, other groups; other venues.
        assert len(captured) == 10


@pytest.mark.parametrize(
    ("group", "modifiers", "message"),
    [
        ({"min_choices": "2", "max_choices": "1"}, [], "Choose at least the minimum and at most 20."),
        (
            {},
            [{"name": "A", "is_default": "on"}, {"name": "B", "is_default": "on"}],
            "2 are chosen by default; none or",
        ),
        ({}, [{"name": "A", "ref": "a"}, {"name": "B", "ref": "a"}], "Another modifier has this id."),
        ({}, [{"name": "A", "price_delta": "0.005"}], "An amount in EUR has at most 2 decimals."),
        ({"ref": "a b"}, [], "The id of a group has no spaces."),
    ],
    ids=["bounds", "defaults", "ids", "decimals", "spaces"],
)
def test_a_group_that_makes_no_sense_is_refused(
    manager: Client, venue: Venue, group: dict[str, str], modifiers: list[dict[str, str]], message: str
) -> None:
    builders.menu(venue)
    sent = {"name": "Size", "ref": "", "min_choices": "0", "max_choices": "1"} | group | rows(*modifiers)
    answer = manager.post(f"{root(venue)}/groups/new", sent)
    assert answer.status_code == 400
    assert message in text(answer)
    assert not ModifierGroup.objects.exists()


def test_an_old_page_of_a_group_overwrites_no_later_menu(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    group = builders.modifier_group(menu, "size", {"large": "3.00", "small": "0"}, menu.items.get())
    path = f"{root(venue)}/groups/{group.pk}"
    page = form_of(manager.get(path), "modifier-group")
    group.modifiers.filter(ref="large").update(price_delta=4, name="Very large")
    number = next(name.split("-")[1] for name, value in page.items() if value == ["large"] and name.endswith("-ref"))
    # Of what the page did not change, the later menu stays.
    assert manager.post(path, page | {f"rows-{number}-is_default": "on"}).status_code == 302
    large = group.modifiers.get(ref="large")
    assert (large.name, large.price_delta, large.is_default) == ("Very large", Decimal(4), True)
    refused = manager.post(path, page | {f"rows-{number}-price_delta": "3.50"})
    assert refused.status_code == 400
    assert "Another user has changed this to “4.00”. Save again to overwrite it." in html.unescape(text(refused))
    assert manager.post(path, form_of(refused, "modifier-group")).status_code == 302
    large.refresh_from_db()
    assert large.price_delta == Decimal("3.5")
    group.modifiers.filter(ref="small").delete()
    gone = manager.post(path, page)
    assert gone.status_code == 400
    assert "A modifier was just deleted by another user or program. Open the page again." in text(gone)


def test_modifiers_that_were_added_meanwhile_count_for_the_rules_of_their_group(manager: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    group = builders.modifier_group(menu, "size", {"large": "3.00"}, menu.items.get())
    path = f"{root(venue)}/groups/{group.pk}"
    page = form_of(manager.get(path), "modifier-group")
    group.modifiers.create(menu=menu, ref="small", name="Small", is_default=True)
    refused = manager.post(path, page | {"rows-0-is_default": "on"})
    assert refused.status_code == 400
    assert "2 are chosen by default; none or 0 to 1 can be." in text(refused)


@time_machine.travel("2026-11-21T15:00:00Z", tick=False)
def test_a_dish_is_sold_out_until_a_time_by_the_venues_clock(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    path = f"{root(venue)}/items/{item.pk}"
    result = text(manager.post(f"{path}/sold-out", {"to": "out", "until": "18:00"}, follow=True))
    assert "Margherita is sold out until 18:00." in result
    assert '<span class="badge warn">sold out until 18:00</span>' in result
    item.refresh_from_db()
    assert item.sold_out_until == datetime(2026, 11, 21, 17, tzinfo=UTC)
    # A time that is over is that of tomorrow.
    manager.post(f"{path}/sold-out", {"to": "out", "until": "09:30"})
    item.refresh_from_db()
    assert item.sold_out_until == datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
    assert "enter a time such as 18:00" in text(
        manager.post(f"{path}/sold-out", {"to": "out", "until": "soon"}, follow=True)
    )
    manager.post(f"{path}/sold-out", {"to": "back"})
    assert MenuItem.objects.get().sold_out_until is None
    assert events(venue) == ["menu.item_sold_out", "menu.updated", "menu.updated"]


@time_machine.travel("2026-11-21T15:00:00Z", tick=False)
def test_the_form_of_a_dish_sets_and_ends_until_when_it_is_sold_out(manager: Client, venue: Venue) -> None:
    item = builders.menu(venue).items.get()
    MenuItem.objects.update(sold_out_on=date(2026, 11, 21))
    path = f"{root(venue)}/items/{item.pk}"
    page = form_of(manager.get(path), "menu-row")
    assert page["sold_out_until"] == ["2026-11-22T00:00"]
    assert manager.post(path, page).status_code == 302
    assert events(venue) == []
    assert manager.post(path, page | {"sold_out_until": "2026-11-21T18:00"}).status_code == 302
    item.refresh_from_db()
    assert (item.sold_out_on, item.sold_out_until) == (None, datetime(2026, 11, 21, 17, tzinfo=UTC))
    refused = manager.post(path, form_of(manager.get(path), "menu-row") | {"sold_out_until": "2026-11-21T15:59"})
    assert (refused.status_code, "Enter a time in the future, or none." in text(refused)) == (400, True)
    assert manager.post(path, form_of(manager.get(path), "menu-row") | {"sold_out_until": ""}).status_code == 302
    assert MenuItem.objects.get().sold_out_until is None
    assert events(venue) == ["menu.updated", "menu.updated"]
