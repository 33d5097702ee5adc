"""Commands on a venue's menu: publish, move and delete."""

import re
from itertools import chain, count
from typing import Any

from anyascii import anyascii
from django.db import transaction
from django.db.models import RestrictedError

from accounts.models import Venue
from framework.errors import InvalidRequest
from orders.menu import photos
from orders.models import Menu, MenuCategory, MenuItem


class MenuEmpty(InvalidRequest):
    """A published menu without dishes would reject every order."""


class CategoryNotEmpty(InvalidRequest):
    """A category with dishes cannot be deleted."""


def get_or_create_menu(venue: Venue) -> Menu:
    return Menu.objects.get_or_create(venue=venue)[0]


def derive_ref(menu: Menu, name: str) -> str:
    """Return an unused id for a dish of this name: `creme-brulee`, then `creme-brulee-2`. One query."""
    base = re.sub(r"[^a-z0-9]+", "-", anyascii(name).lower())[:50].strip("-") or "dish"
    used = set(MenuItem.objects.filter(menu=menu.pk, ref__startswith=base).values_list("ref", flat=True))
    return next(ref for ref in chain([base], (f"{base}-{number}" for number in count(2))) if ref not in used)


def set_published(venue: Venue, *, is_published: bool) -> None:
    """Publish or unpublish the menu. Raises MenuEmpty."""
    with transaction.atomic():
        get_or_create_menu(venue)
        menu = Menu.objects.select_for_update().get(venue=venue)
        if is_published and not menu.items.exists():
            raise MenuEmpty("The menu has no dishes, so every order would be rejected. Add a dish first.")
        Menu.objects.filter(pk=menu.pk).update(is_published=is_published)


def delete(row: MenuItem | MenuCategory) -> None:
    """Delete a dish, or a category without dishes. Raises CategoryNotEmpty."""
    try:
        with transaction.atomic():
            if isinstance(row, MenuItem):
                photos.discard_on_commit([row.photo_id])
            row.delete()
    except RestrictedError as error:
        number = MenuItem.objects.filter(category=row.pk).count()
        raise CategoryNotEmpty(
            f"{row.name} has {number} dish{'es' if number != 1 else ''}. Move or delete them first."
        ) from error


def move(row: MenuItem | MenuCategory, *, up: bool) -> bool:
    """Swap a dish in its category, or a category in its menu, with its neighbour; False if there is none.

    Locks the menu, so that concurrent moves run one after the other.
    """
    with transaction.atomic():
        Menu.objects.select_for_update().get(pk=row.menu_id)
        if isinstance(row, MenuItem):
            category = MenuItem.objects.values_list("category", flat=True).get(pk=row.pk)
            siblings: Any = MenuItem.objects.filter(category=category).order_by("position", "name", "id")
        else:
            siblings = MenuCategory.objects.filter(menu=row.menu_id).order_by("position", "name", "id")
        order = list(siblings)
        index = next(i for i, other in enumerate(order) if other.pk == row.pk)
        neighbour = index - 1 if up else index + 1
        if not 0 <= neighbour < len(order):
            return False
        order[index], order[neighbour] = order[neighbour], order[index]
        for position, other in enumerate(order):
            if other.position != position:
                type(other).objects.filter(pk=other.pk).update(position=position)
    return True
