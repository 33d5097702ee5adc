"""Commands on a venue's menu: publish, move and delete. Each stores its event in its transaction."""

import re
from collections.abc import Container, MutableMapping
from datetime import datetime
from typing import Any
from uuid import UUID

from anyascii import anyascii
from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from PIL import Image

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.errors import InvalidRequest
from orders.menu import photos
from orders.models import Menu, MenuCategory, MenuItem, ModifierGroup

Row = MenuItem | MenuCategory | ModifierGroup
# Dishes, and modifiers, that an error names.
MAX_USERS = 5


class MenuEmpty(InvalidRequest):
    """A published menu without dishes would reject every order."""


class CategoryNotEmpty(InvalidRequest):
    """A category with dishes cannot be deleted."""


class InUse(InvalidRequest):
    """A dish or a modifier group that others use cannot be deleted."""


def get_or_create_menu(venue: Venue) -> Menu:
    return Menu.objects.get_or_create(venue=venue)[0]


def lock_menu(venue: UUID) -> Menu:
    """Return the menu of the venue, created if there is none, locked until the end of the transaction.

    Whoever changes rows of several tables of one menu takes this lock. It also prevents a change of the currency.
    """
    Menu.objects.get_or_create(venue_id=venue)
    return Menu.objects.select_for_update().get(venue=venue)


def record_updated(menu: Menu, *, actor: str, now: datetime) -> None:
    """Store the event of a change of the menu, in its transaction. Two queries."""
    state = Menu.objects.annotate(number=Count("items")).values("is_published", "number").get(pk=menu.pk)
    record = {"object": "menu", "is_published": state["is_published"], "items": state["number"]}
    outbox.record_event(menu.venue, EventType.MENU_UPDATED, record=record, subject=menu.pk, actor=actor, now=now)


def replace_photo(item: MenuItem, image: Image.Image, *, actor: str, now: datetime) -> None:
    """Store the image as the photo of the dish, with its event. Call it outside a transaction."""
    photo = photos.store(image, now=now)
    with transaction.atomic():
        if photos.set_photo(item, photo):
            menu = Menu.objects.select_related("venue").get(pk=item.menu_id)
            record_updated(menu, actor=actor, now=now)


def derive_ref(
    name: str, used: Container[str], *, default: str, numbers: MutableMapping[str, int] | None = None
) -> str:
    """Return an unused id for a row of this name: `creme-brulee`, then `creme-brulee-2`.

    `numbers` remembers the last number of each name over many calls.
    """
    base = re.sub(r"[^a-z0-9]+", "-", anyascii(name).lower())[:50].strip("-") or default
    numbers = {} if numbers is None else numbers
    number = numbers.get(base, 1)
    while (ref := base if number == 1 else f"{base}-{number}") in used:
        number += 1
    numbers[base] = number
    return ref


def set_published(venue: Venue, *, is_published: bool, actor: str, now: datetime) -> None:
    """Publish or unpublish the menu. Raises MenuEmpty."""
    with transaction.atomic():
        menu = lock_menu(venue.pk)
        if is_published and not menu.items.exists():
            raise MenuEmpty(_("The menu has no dishes, so every order would be rejected. Add a dish first."))
        if Menu.objects.filter(pk=menu.pk).exclude(is_published=is_published).update(is_published=is_published):
            record_updated(menu, actor=actor, now=now)


def delete(row: Row, *, actor: str, now: datetime) -> None:
    """Delete a dish, a category without dishes, or a modifier group that nothing uses.

    Raises CategoryNotEmpty, InUse.
    """
    with transaction.atomic():
        menu = Menu.objects.select_for_update().get(pk=row.menu_id)
        if not type(row).objects.filter(pk=row.pk).exists():
            return
        if isinstance(row, MenuCategory):
            if number := row.items.count():
                message = ngettext(
                    "%(name)s has %(count)s dish. Move or delete them first.",
                    "%(name)s has %(count)s dishes. Move or delete them first.",
                    number,
                )
                raise CategoryNotEmpty(message % {"name": row.name, "count": number})
        elif users := list_users(row):
            message = _("%(name)s is used by %(users)s. Take it out there first.")
            raise InUse(message % {"name": row.name, "users": ", ".join(users)})
        if isinstance(row, MenuItem):
            photos.discard_on_commit([row.photo_id])
        row.delete()
        record_updated(menu, actor=actor, now=now)


def list_users(row: MenuItem | ModifierGroup) -> list[str]:
    """Return the names of the dishes and modifiers that use a group, or of the modifiers that are this dish."""
    if isinstance(row, MenuItem):
        modifiers, names = row.part_of, []
    else:
        modifiers, names = row.asked_by, list(row.items.order_by("name").values_list("name", flat=True)[:MAX_USERS])
    chosen = modifiers.select_related("group").order_by("group__name", "name")[:MAX_USERS]
    return [*names, *(f"{modifier.group.name}: {modifier.name}" for modifier in chosen)]


def move(row: MenuItem | MenuCategory, *, up: bool, actor: str, now: datetime) -> bool:
    """Swap a dish in its category, or a category in its menu, with its neighbour; False if there is none.

    Locks the menu, so that concurrent moves run one after the other.
    """
    with transaction.atomic():
        menu = Menu.objects.select_for_update().get(pk=row.menu_id)
        if isinstance(row, MenuItem):
            category = MenuItem.objects.values_list("category", flat=True).filter(pk=row.pk).first()
            siblings: Any = MenuItem.objects.filter(category=category).order_by("position", "name", "id")
        else:
            siblings = MenuCategory.objects.filter(menu=row.menu_id).order_by("position", "name", "id")
        order = list(siblings)
        index = next((i for i, other in enumerate(order) if other.pk == row.pk), None)
        if index is None:
            return False
        neighbour = index - 1 if up else index + 1
        if not 0 <= neighbour < len(order):
            return False
        order[index], order[neighbour] = order[neighbour], order[index]
        for position, other in enumerate(order):
            if other.position != position:
                type(other).objects.filter(pk=other.pk).update(position=position)
        record_updated(menu, actor=actor, now=now)
    return True
