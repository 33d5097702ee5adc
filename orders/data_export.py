"""Orders and menus in the data export of an account."""

from collections.abc import Iterator
from typing import Any

from accounts import data_export
from accounts.models import Account
from orders.models import Menu, Order
from orders.order_json import serialize_order


def list_orders(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the orders as the API returns them, with their venue."""
    rows = Order.objects.filter(venue__account=account).select_related("venue").with_items()
    for order in data_export.iterate_in_batches(rows):
        yield {"venue": order.venue.public_id, **serialize_order(order)}


def list_menus(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the menus with their items."""
    for menu in data_export.iterate_in_batches(Menu.objects.filter(venue__account=account).select_related("venue")):
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
                    "allergens": item.allergens,
                }
                for item in menu.items.select_related("category").order_by("ref")
            ],
        }
