"""Changes a venue's menu: what is on it, in which order, and whether orders follow it."""

from typing import Any

from django.db import transaction
from django.db.models import RestrictedError

from accounts.models import Venue
from framework.errors import InvalidRequest
from orders.models import Menu, MenuCategory, MenuItem


class NothingToSell(InvalidRequest):
    """A published menu without a dish would refuse every order."""


class HasDishes(InvalidRequest):
    """A category goes once its dishes are elsewhere."""


def menu_of(venue: Venue) -> Menu:
    """The venue's menu, made where it has none yet; of two who make it, one does."""
    return Menu.objects.get_or_create(venue=venue)[0]


def publish(venue: Venue, *, is_published: bool) -> None:
    """Have orders follow the menu, or not any more. Raises NothingToSell."""
    with transaction.atomic():
        menu_of(venue)
        menu = Menu.objects.select_for_update().get(venue=venue)
        if is_published and not menu.items.exists():
            raise NothingToSell("The menu has no dishes, so every order would be rejected. Add a dish first.")
        Menu.objects.filter(pk=menu.pk).update(is_published=is_published)


def remove_category(category: MenuCategory) -> None:
    """Delete a category that has no dishes. Raises HasDishes."""
    try:
        category.delete()
    except RestrictedError as error:
        number = category.items.count()
        raise HasDishes(
            f"{category.name} has {number} dish{'es' if number != 1 else ''}. Move or delete them first."
        ) from error


def move(row: MenuItem | MenuCategory, *, up: bool) -> bool:
    """Swap it with the one before or behind it, of its category or menu; False where it is the first or last.

    The menu is held meanwhile, so that two who move do so one after the other.
    """
    with transaction.atomic():
        Menu.objects.select_for_update().get(pk=row.menu_id)
        if isinstance(row, MenuItem):
            category = MenuItem.objects.values_list("category", flat=True).get(pk=row.pk)
            fellows: Any = MenuItem.objects.filter(category=category).order_by("position", "name", "id")
        else:
            fellows = MenuCategory.objects.filter(menu=row.menu_id).order_by("position", "name", "id")
        order = list(fellows)
        here = next(place for place, other in enumerate(order) if other.pk == row.pk)
        there = here - 1 if up else here + 1
        if not 0 <= there < len(order):
            return False
        order[here], order[there] = order[there], order[here]
        for position, other in enumerate(order):
            if other.position != position:
                type(other).objects.filter(pk=other.pk).update(position=position)
    return True
