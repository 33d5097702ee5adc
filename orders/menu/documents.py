"""The menu of a venue as a document of the API."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Prefetch

from accounts.models import Venue
from orders.models import Menu, MenuCategory, MenuItem
from orders.serializers import MenuItemRecord, MenuRecord


def serialize_menu(venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Return the whole menu, published or not; without categories for a venue that has none. Three queries."""
    items = MenuItem.objects.order_by("position", "name", "id")
    categories = MenuCategory.objects.order_by("position", "name", "id").prefetch_related(Prefetch("items", items))
    menu = Menu.objects.filter(venue=venue).prefetch_related(Prefetch("categories", categories)).first()
    menu = menu or Menu(venue=venue)
    menu.venue = venue
    record: dict[str, Any] = MenuRecord(menu, context=_context(venue, now=now)).data
    return record


def serialize_item(item: MenuItem, venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Return the record of a dish as it stands in the menu."""
    record: dict[str, Any] = MenuItemRecord(item, context=_context(venue, now=now)).data
    return record


def _context(venue: Venue, *, now: datetime) -> dict[str, Any]:
    return {"currency": venue.currency, "today": now.astimezone(ZoneInfo(venue.timezone)).date()}
