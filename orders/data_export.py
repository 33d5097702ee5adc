"""The orders and menus of an account in its data export."""

from collections.abc import Iterator
from typing import Any

from accounts import data_export
from accounts.models import Account
from orders.models import Menu, Order
from orders.serializers import OrderRecord


def orders_of(account: Account) -> Iterator[dict[str, Any]]:
    """Its orders, as the API answers them, with their venue."""
    for order in data_export.by_key(Order.objects.filter(venue__account=account).select_related("venue").with_items()):
        yield {"venue": order.venue.public_id, **OrderRecord(order).data}


def menus_of(account: Account) -> Iterator[dict[str, Any]]:
    """Its menus, each with all its items."""
    for menu in data_export.by_key(Menu.objects.filter(venue__account=account).select_related("venue")):
        yield {
            "venue": menu.venue.public_id,
            "is_published": menu.is_published,
            "items": [
                {
                    "id": item.ref,
                    "category": item.category.name if item.category else None,
                    "name": item.name,
                    "price": item.price,
                    "tax_percent": item.tax_percent,
                }
                for item in menu.items.select_related("category").order_by("ref")
            ],
        }
