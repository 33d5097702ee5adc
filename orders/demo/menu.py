"""The menu of the demo."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from django.db import transaction

from accounts.demo.rows import IS_DEMO, demo_id
from accounts.models import Venue
from framework.data_files import read_toml
from orders.menu import photos
from orders.models import DishPhoto, Menu, MenuCategory, MenuItem
from orders.pricing import round_amount

FOLDER = Path(__file__).parent
CARD = read_toml(FOLDER / "menu.toml")
PRICE_LEVELS = read_toml(FOLDER / "price_levels.toml")
PICTURES = FOLDER / "photos"


def add_menu(venue: Venue, *, now: datetime) -> int:
    """Publish the menu of menu.toml for the venue, with photos, unless it has a menu; return how many dishes it has.

    Call it outside of transactions, as photos.store_original requires.
    """
    if Menu.objects.filter(venue=venue).exists():
        return 0
    pictures = {ref: store_picture(ref, now=now) for dishes in CARD.values() for ref in dishes}
    with transaction.atomic():
        menu, is_new = Menu.objects.get_or_create(
            venue=venue, defaults={"pk": id_of(venue, "menu"), "is_published": True}
        )
        if not is_new:
            return 0
        items = []
        for position, (name, dishes) in enumerate(CARD.items()):
            category = menu.categories.create(pk=id_of(venue, "category", name), name=name, position=position)
            items += [
                MenuItem(
                    pk=id_of(venue, "dish", ref),
                    menu=menu,
                    category=category,
                    ref=ref,
                    position=item_position,
                    photo=pictures[ref],
                    **{**columns, "price": price_in(venue.currency, columns["price"])},
                )
                for item_position, (ref, columns) in enumerate(dishes.items())
            ]
        MenuItem.objects.bulk_create(items)
    return len(items)


def id_of(venue: Venue, *name: object) -> UUID:
    return demo_id(venue.pk, *name, at=venue.created_at)


def price_in(currency: str, euros: str) -> Decimal:
    """Return a price of menu.toml at the level of the currency: 9.50 in euro is 1500 in yen."""
    level = Decimal(PRICE_LEVELS.get(currency, "1"))
    return round_amount(Decimal(euros) * level, currency)


def store_picture(ref: str, *, now: datetime) -> DishPhoto:
    """Store the picture of a dish as its upload would be."""
    return photos.store_original((PICTURES / f"{ref}.jpg").read_bytes(), now=now)


def remove_menu(venue: Venue) -> int:
    """Remove the dishes of the demo, and its categories and menu if they are then empty; return how many dishes."""
    items = MenuItem.objects.filter(IS_DEMO, menu__venue=venue)
    photos.discard_on_commit(list(items.values_list("photo", flat=True)))
    dishes, _ = items.delete()
    MenuCategory.objects.filter(IS_DEMO, menu__venue=venue, items=None).delete()
    Menu.objects.filter(IS_DEMO, venue=venue, items=None, categories=None).delete()
    return dishes
