"""The menu of a venue as a document of the API."""

from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, Prefetch, QuerySet

from accounts.models import Venue
from framework.api import conditional_requests
from framework.api.renderers import JSONRenderer
from framework.timezones import zone
from orders.models import ItemModifierGroup, Menu, MenuCategory, MenuItem, Modifier, ModifierGroup
from orders.serializers import MenuItemRecord, MenuRecord, PublishedMenuItemRecord, PublishedMenuRecord


def items_with_groups() -> QuerySet[MenuItem]:
    """Return dishes in their order in a category, each with `group_refs`, the ids of its modifier groups."""
    return annotate_groups(MenuItem.objects.all()).order_by("position", "name", "id")


def annotate_groups(items: QuerySet[MenuItem]) -> QuerySet[MenuItem]:
    groups = ItemModifierGroup.objects.filter(item=OuterRef("pk")).order_by("position", "group__ref")
    return items.annotate(group_refs=ArraySubquery(groups.values("group__ref")))


def modifiers_with_refs() -> QuerySet[Modifier]:
    """Return modifiers in their order in a group, with the ids of the dish and the group that they name."""
    refs = {"item_ref": F("item__ref"), "nested_group_ref": F("nested_group__ref")}
    return Modifier.objects.annotate(**refs).order_by("position", "name", "id")


def serialize_menu(venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Return the whole menu, published or not; without categories for a venue that has none. Five queries."""
    categories = MenuCategory.objects.order_by("position", "name", "id")
    groups = ModifierGroup.objects.order_by("ref")
    menu = (
        Menu.objects.filter(venue=venue)
        .prefetch_related(
            Prefetch("categories", categories.prefetch_related(Prefetch("items", items_with_groups()))),
            Prefetch("modifier_groups", groups.prefetch_related(Prefetch("modifiers", modifiers_with_refs()))),
        )
        .first()
    )
    menu = menu or Menu(venue=venue)
    menu.venue = venue
    record: dict[str, Any] = MenuRecord(menu, context=_context(venue, now=now)).data
    return record


def serialize_published_menu(venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Return the menu for everybody (orders.serializers.PublishedMenuRecord). Five queries."""
    menu = serialize_menu(venue, now=now)
    categories = [
        category
        | {"items": [{name: item[name] for name in PublishedMenuItemRecord.Meta.fields} for item in category["items"]]}
        for category in menu["categories"]
    ]
    return {name: menu[name] for name in PublishedMenuRecord.Meta.fields} | {"categories": categories}


def render_menu(venue: Venue, *, now: datetime) -> tuple[bytes, str]:
    """Return the menu as JSON, and its entity tag. Five queries."""
    content = JSONRenderer().render(serialize_menu(venue, now=now))
    return content, conditional_requests.content_etag(content)


def serialize_item(item: MenuItem, venue: Venue, *, now: datetime) -> dict[str, Any]:
    """Return the record of a dish of `items_with_groups` as it stands in the menu."""
    record: dict[str, Any] = MenuItemRecord(item, context=_context(venue, now=now)).data
    return record


def _context(venue: Venue, *, now: datetime) -> dict[str, Any]:
    return {"currency": venue.currency, "at": now.astimezone(zone(venue.timezone))}
