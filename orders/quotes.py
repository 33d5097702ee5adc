"""Prices of orders that are not placed yet, by the rules of `orders.commands.place_order`."""

from collections.abc import Mapping, Sequence
from typing import Any

from orders import commands
from orders.menu.modifiers import Resolver, read_groups
from orders.menu.selection import OrderingTerms, read_items
from orders.models import MenuItem, Order


def price_order(order: Order, items: Sequence[Mapping[str, Any]]) -> tuple[OrderingTerms, dict[str, MenuItem]]:
    """Set lines and totals of an unsaved order; return the terms of its venue, and those of the dishes on the menu.

    Items that are not on the menu have no name and no price, and then the order has no total. Of modifiers that must
    be chosen and are not, the defaults are. One query; two with modifiers.
    """
    terms, menu, on_menu, has_modifiers = read_items(order.venue, [item["menu_item_id"] for item in items])
    resolver = Resolver(read_groups(menu, list(on_menu)) if menu and has_modifiers else {})
    modifiers = [resolver.resolve_line(item["menu_item_id"], item.get("modifiers", ()), param="") for item in items]
    commands.set_lines(order, items, [on_menu.get(item["menu_item_id"]) for item in items], modifiers)
    commands.set_totals(order, terms.charges_of(order.fulfilment))
    return terms, on_menu
