"""Changes of single columns of dishes: price, availability, stock, sold out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Venue
from framework.errors import InvalidRequest
from orders import pricing
from orders.menu import editing, stock
from orders.models import MenuItem


def check_price(changes: Mapping[str, Any], venue: Venue) -> None:
    """Raise InvalidRequest for a price with more decimals than the venue's currency."""
    if message := pricing.find_decimals_error(changes.get("price"), venue.currency):
        raise InvalidRequest(message, param="price")


def change_items(items: QuerySet[MenuItem], changes: Mapping[str, Any], *, actor: str, now: datetime) -> int:
    """Set `price`, `is_available`, `stock` or `is_sold_out`, and nothing else; return how many dishes there are.

    `is_sold_out` is about the current day of the venue. `stock` is the number of portions that are left, whatever it
    was: orders that commit later take theirs from it. Locks the dishes, so that a change is compared with what
    it replaces. A dish that becomes sold out is an event of its own, all other changes of a menu are one.
    """
    with transaction.atomic():
        found = items.order_by("pk").select_related("menu__venue")
        menus = {}
        total = 0
        for item in found.select_for_update(of=("self",)):
            total += 1
            today = now.astimezone(ZoneInfo(item.menu.venue.timezone)).date()
            wanted = {name: value for name, value in changes.items() if name != "is_sold_out"}
            if "is_sold_out" in changes and changes["is_sold_out"] != (item.sold_out_on == today):
                wanted["sold_out_on"] = today if changes["is_sold_out"] else None
            changed = {name: value for name, value in wanted.items() if getattr(item, name) != value}
            if not changed:
                continue
            was_sold_out = item.is_sold_out(today)
            MenuItem.objects.filter(pk=item.pk).update(**changed)
            for name, value in changed.items():
                setattr(item, name, value)
            has_sold_out = item.is_sold_out(today) and not was_sold_out
            if has_sold_out:
                stock.record_sold_out(item.pk, item.menu.venue, actor=actor, now=now)
            if not has_sold_out or changed.keys() - {"sold_out_on", "stock"}:
                menus[item.menu_id] = item.menu
        for menu in menus.values():
            editing.record_updated(menu, actor=actor, now=now)
    return total
