"""The menu over the management API: one document, which an integrator pulls again only when it has changed."""

from datetime import date, time
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Venue
from orders.menu import photos
from orders.models import DishPhoto, ItemModifierGroup, Menu, MenuItem
from tests.support import builders
from tests.support.query_counts import costing

MENU = "/api/v1/menu"


def dishes(api: Client) -> dict[str, dict[str, Any]]:
    """The dishes of the menu by their ids."""
    categories = api.get(MENU).json()["categories"]
    return {dish["id"]: dish for category in categories for dish in category["items"]}


@pytest.mark.django_db
def test_the_menu_is_one_document_in_its_order(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    menu.categories.update(served_from=time(17), served_until=time(1, 30), position=2)
    second = menu.categories.get()
    first = menu.categories.create(name="Antipasti", position=1)
    builders.dish(
        menu, "burrata", "12", category=first, description="With anchovies", allergens=["milk", "fish"], tax_percent=4
    )
    builders.dish(menu, "acqua", "2.50", category=second, position=1, is_available=False)
    assert api.get(MENU).json() == {
        "object": "menu",
        "is_published": True,
        "currency": "EUR",
        "prices_include_tax": True,
        "categories": [
            {
                "name": "Antipasti",
                "served_from": None,
                "served_until": None,
                "translations": {},
                "items": [
                    {
                        "id": "burrata",
                        "name": "Burrata",
                        "description": "With anchovies",
                        "price": "12.00",
                        "tax_percent": "4",
                        "takeaway_tax_percent": None,
                        "allergens": ["milk", "fish"],
                        "diets": [],
                        "photo": None,
                        "is_available": True,
                        "is_sold_out": False,
                        "sold_out_until": None,
                        "station": "",
                        "prep_minutes": None,
                        "stock": None,
                        "translations": {},
                        "modifier_groups": [],
                    }
                ],
            },
            {
                "name": "Dishes",
                "served_from": "17:00",
                "served_until": "01:30",
                "translations": {},
                "items": [
                    {
                        "id": ref,
                        "name": ref.title(),
                        "description": "",
                        "price": price,
                        "tax_percent": "10",
                        "takeaway_tax_percent": None,
                        "allergens": [],
                        "diets": [],
                        "photo": None,
                        "is_available": is_available,
                        "is_sold_out": False,
                        "sold_out_until": None,
                        "station": "",
                        "prep_minutes": None,
                        "stock": None,
                        "translations": {},
                        "modifier_groups": [],
                    }
                    for ref, price, is_available in (("margherita", "9.50", True), ("acqua", "2.50", False))
                ],
            },
        ],
        "modifier_groups": [],
    }


@pytest.mark.django_db
def test_prices_have_the_digits_of_the_currency(api: Client, venue: Venue) -> None:
    Venue.objects.update(currency="JPY")
    builders.menu(Venue.objects.get(pk=venue.pk), margherita="950")
    assert dishes(api)["margherita"]["price"] == "950"


@pytest.mark.django_db
def test_a_dish_is_sold_out_until_midnight_at_the_venue(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    MenuItem.objects.update(sold_out_on=date(2026, 11, 21))
    with time_machine.travel("2026-11-21T22:59:00Z", tick=False):
        assert dishes(api)["margherita"]["is_sold_out"]
    with time_machine.travel("2026-11-21T23:00:00Z", tick=False):
        assert not dishes(api)["margherita"]["is_sold_out"]


@pytest.mark.django_db
def test_a_photo_has_two_sizes_at_addresses_of_this_server(api: Client, venue: Venue) -> None:
    builders.menu(venue)
    photo = DishPhoto.objects.create(created_at=timezone.now())
    MenuItem.objects.update(photo=photo)
    base = f"http://127.0.0.1:8000{photos.thumbnail_path(photo.pk, 'small')}"
    assert dishes(api)["margherita"]["photo"] == {"small": base, "large": base.replace("/small.", "/large.")}


@pytest.mark.django_db
def test_an_unchanged_menu_is_304_and_any_change_has_another_tag(api: Client, venue: Venue) -> None:
    menu = builders.menu(venue)
    tag = api.get(MENU)["ETag"]
    unchanged = api.get(MENU, headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", tag)
    seen = {tag}
    for change in ({"price": "10"}, {"name": "Pizza"}, {"is_available": False}, {"allergens": ["milk"]}):
        menu.items.update(**change)
        answer = api.get(MENU, headers={"If-None-Match": tag})
        assert answer.status_code == 200
        seen.add(answer["ETag"])
    Menu.objects.update(is_published=False)
    seen.add(api.get(MENU)["ETag"])
    assert len(seen) == 6


@pytest.mark.django_db
def test_a_venue_without_a_menu_has_none_and_no_other_menu_is_shown(
    api: Client, venue: Venue, other_venue: Venue
) -> None:
    builders.menu(other_venue)
    shown = {"object": "menu", "is_published": False, "currency": "EUR", "prices_include_tax": True}
    assert api.get(MENU).json() == shown | {"categories": [], "modifier_groups": []}


@pytest.mark.parametrize("count", [1, 30])
@pytest.mark.django_db
def test_a_menu_costs_five_queries_however_long(api: Client, venue: Venue, count: int) -> None:
    menu = builders.menu(venue)
    for number in range(count):
        category = menu.categories.create(name=str(number))
        item = builders.dish(menu, f"dish-{number}", category=category)
        group = menu.modifier_groups.create(ref=f"group-{number}", name="Size")
        group.modifiers.create(menu=menu, ref=f"modifier-{number}", name="Large", item=item)
        ItemModifierGroup.objects.create(menu=menu, item=item, group=group)
    # The menu, its categories, their dishes, the modifier groups and their modifiers.
    with costing(5):
        assert len(dishes(api)) == count + 1
