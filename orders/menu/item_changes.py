"""Changes of single columns of dishes: price, availability, stock, sold out."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import InvalidRequest
from framework.timezones import zone
from orders import pricing
from orders.menu import editing, stock
from orders.models import MenuItem
from orders.models.menus import get_midnight


def check_values(changes: Mapping[str, Any], venue: Venue, *, now: datetime) -> None:
    """Raise InvalidRequest for a price with more decimals than the venue's currency, and for a moment that is past."""
    if message := pricing.find_decimals_error(changes.get("price"), venue.currency):
        raise InvalidRequest(message, param="price")
    if (until := changes.get("sold_out_until")) and until <= now:
        raise InvalidRequest(_("This must be in the future."), param="sold_out_until")


def change_items(items: QuerySet[MenuItem], changes: Mapping[str, Any], *, actor: str, now: datetime) -> int:
    """Set `price`, `is_available`, `stock`, `is_sold_out` or `sold_out_until`, and nothing else; return how many
    dishes there are.

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
            at = now.astimezone(zone(item.menu.venue.timezone))
            changed = find_changes(item, changes, at)
            if not changed:
                continue
            was_sold_out = item.is_sold_out(at)
            rows = MenuItem.objects.filter(pk=item.pk)
            rows.update(**changed)
            for name, value in changed.items():
                setattr(item, name, value)
            if became_sold_out := item.is_sold_out(at) and not was_sold_out:
                stock.record_sold_out(rows, actor=actor, now=now)
            if not became_sold_out or changed.keys() - {"sold_out_on", "sold_out_until", "stock"}:
                menus[item.menu_id] = item.menu
        for menu in menus.values():
            editing.record_updated(menu, actor=actor, now=now)
    return total


def find_changes(item: MenuItem, changes: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """Return the columns of the dish that are to change, with their values; `at` is the time at the venue."""
    values = {name: changes[name] for name in ("price", "is_available", "stock") if name in changes}
    changed = {name: value for name, value in values.items() if getattr(item, name) != value}
    until = item.get_sold_out_until(at)
    if changes.get("is_sold_out"):
        if until != get_midnight(at):
            changed |= {"sold_out_on": at.date(), "sold_out_until": None}
    elif changes.keys() & {"is_sold_out", "sold_out_until"} and until != changes.get("sold_out_until"):
        changed |= {"sold_out_on": None, "sold_out_until": changes.get("sold_out_until")}
    return changed
