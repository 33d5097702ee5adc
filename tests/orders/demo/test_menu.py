"""The menu of the demo: added once, and then as people have made it."""

from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Venue
from orders.demo import menu as demo_menu
from orders.menu import photos
from orders.models import DishPhoto, Menu, MenuItem
from tests.support import builders


@pytest.mark.exhaustive
def test_a_seeded_menu_has_four_categories_and_two_rates_of_tax(venue: Venue) -> None:
    demo_menu.add_menu(venue, now=timezone.now())
    menu = Menu.objects.get()
    assert menu.is_published
    assert list(menu.categories.order_by("position").values_list("name", flat=True)) == [
        "Antipasti",
        "Primi e pizze",
        "Dolci",
        "Da bere",
    ]
    assert menu.items.count() == 21
    assert sorted(set(menu.items.values_list("tax_percent", flat=True))) == [10, 22]
    for item in menu.items.all():
        item.full_clean()
    assert menu.items.get(ref="cacio-e-pepe").allergens == ["gluten", "eggs", "milk"]
    assert sorted(menu.items.filter(allergens=[]).values_list("ref", flat=True)) == [
        "acqua",
        "amaro",
        "carciofi-alla-romana",
        "chinotto",
        "espresso",
    ]


@pytest.mark.exhaustive
def test_a_seeded_pizza_has_sizes_extras_and_a_drink_at_the_prices_that_are_documented(venue: Venue) -> None:
    demo_menu.add_menu(venue, now=timezone.now())
    menu = Menu.objects.get()
    for row in (*menu.items.all(), *menu.modifier_groups.all(), *menu.modifiers.all()):
        row.full_clean()
    order = builders.order(venue)
    assert (order.total, [each["id"] for each in order.items.get().modifiers]) == (Decimal("19.00"), ["regular"])
    chosen = [{"id": "large"}, {"id": "extra-salami"}, {"id": "with-chinotto"}]
    larger = builders.order(venue, items=[{"menu_item_id": "margherita", "quantity": 1, "modifiers": chosen}])
    assert larger.total == Decimal("17.00")
    stations = menu.items.order_by("station").values_list("station", flat=True).distinct()
    assert list(stations) == ["bar", "kitchen", "pizza"]
    assert menu.items.get(stock__isnull=False).ref == "tagliere"
    assert menu.items.filter(translations__has_key="da").count() == 13
    assert demo_menu.remove_menu(venue) == 21
    assert not Menu.objects.exists()


@pytest.mark.exhaustive
def test_each_seeded_dish_has_a_picture_that_is_served(client: Client, venue: Venue) -> None:
    demo_menu.add_menu(venue, now=timezone.now())
    items = list(MenuItem.objects.all())
    served = {client.get(photos.thumbnail_path(item.photo_id, "small")).content for item in items if item.photo_id}
    assert len(served) == len(items) == 21
    files = [file for file in demo_menu.PICTURES.iterdir() if file.suffix == ".jpg"]
    assert {file.stem for file in files} == {item.ref for item in items}
    assert max(file.stat().st_size for file in files) <= 15_000


def test_seeding_a_menu_again_leaves_it_as_people_have_made_it(venue: Venue) -> None:
    demo_menu.add_menu(venue, now=timezone.now())
    MenuItem.objects.filter(ref="margherita").update(price=11)
    MenuItem.objects.filter(ref="marinara").delete()
    Menu.objects.update(is_published=False)
    demo_menu.add_menu(venue, now=timezone.now())
    assert not Menu.objects.get().is_published
    assert MenuItem.objects.get(ref="margherita").price == 11
    assert MenuItem.objects.count() == 20
    # The pictures were not stored again.
    assert DishPhoto.objects.count() == 21


@pytest.mark.parametrize(
    ("currency", "price"), [("EUR", "9.50"), ("JPY", "1520"), ("KWD", "9.500"), ("GBP", "8.55"), ("VND", "266000")]
)
def test_prices_are_at_the_level_of_the_currency(currency: str, price: str) -> None:
    assert demo_menu.price_in(currency, "9.50") == Decimal(price)
