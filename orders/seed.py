"""The menu of the demo restaurant."""

from pathlib import Path

from django.db import transaction

from accounts.models import Venue
from framework.data_files import read_toml
from orders.models import Menu, MenuItem


def load(venue: Venue) -> None:
    """Publish the menu of seed.toml for the venue, unless it has a menu."""
    card = read_toml(Path(__file__).with_name("seed.toml"))
    with transaction.atomic():
        menu, is_new = Menu.objects.get_or_create(venue=venue, defaults={"is_published": True})
        if not is_new:
            return
        for position, (name, dishes) in enumerate(card.items()):
            category = menu.categories.create(name=name, position=position)
            MenuItem.objects.bulk_create(
                MenuItem(menu=menu, category=category, ref=ref, position=item_position, **columns)
                for item_position, (ref, columns) in enumerate(dishes.items())
            )
