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
from orders.models import DishPhoto, ItemModifierGroup, Menu, MenuCategory, MenuItem, Modifier, ModifierGroup
from orders.pricing import round_amount

FOLDER = Path(__file__).parent
CARD = read_toml(FOLDER / "menu.toml")
GROUPS = read_toml(FOLDER / "modifiers.toml")
PRICE_LEVELS = read_toml(FOLDER / "price_levels.toml")
PICTURES = FOLDER / "photos"


def add_menu(venue: Venue, *, now: datetime) -> int:
    """Publish the menu of menu.toml with photos and modifiers, unless the venue has one; return the number of dishes.

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
                    price=price_in(venue.currency, columns["price"]),
                    **{name: value for name, value in columns.items() if name not in ("price", "modifier_groups")},
                )
                for item_position, (ref, columns) in enumerate(dishes.items())
            ]
        MenuItem.objects.bulk_create(items)
        add_modifiers(venue, menu)
    return len(items)


def add_modifiers(venue: Venue, menu: Menu) -> None:
    """Add the groups of modifiers.toml to the menu and to the dishes that name them."""
    for ref, columns in GROUPS.items():
        values = {name: value for name, value in columns.items() if name != "modifiers"}
        ModifierGroup.objects.create(pk=id_of(venue, "group", ref), menu=menu, ref=ref, **values)
    Modifier.objects.bulk_create(
        Modifier(
            pk=id_of(venue, "modifier", modifier["ref"]),
            menu=menu,
            group_id=id_of(venue, "group", group),
            position=position,
            price_delta=price_in(venue.currency, modifier.get("price", "0")),
            item_id=id_of(venue, "dish", modifier["item"]) if "item" in modifier else None,
            **{name: value for name, value in modifier.items() if name not in ("price", "item")},
        )
        for group, columns in GROUPS.items()
        for position, modifier in enumerate(columns["modifiers"])
    )
    ItemModifierGroup.objects.bulk_create(
        ItemModifierGroup(
            menu=menu, item_id=id_of(venue, "dish", ref), group_id=id_of(venue, "group", group), position=position
        )
        for dishes in CARD.values()
        for ref, columns in dishes.items()
        for position, group in enumerate(columns.get("modifier_groups", ()))
    )


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
    # Modifiers name dishes; a dish that one of the team's names stays.
    Modifier.objects.filter(IS_DEMO, menu__venue=venue).delete()
    items = MenuItem.objects.filter(IS_DEMO, menu__venue=venue, part_of=None)
    photos.discard_on_commit(list(items.values_list("photo", flat=True)))
    dishes = items.count()
    items.delete()
    ModifierGroup.objects.filter(IS_DEMO, menu__venue=venue, modifiers=None, items=None, asked_by=None).delete()
    MenuCategory.objects.filter(IS_DEMO, menu__venue=venue, items=None).delete()
    Menu.objects.filter(IS_DEMO, venue=venue, items=None, categories=None, modifier_groups=None).delete()
    return dishes
