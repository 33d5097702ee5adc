"""Orders of a venue, and the menu that they are chosen from."""

from orders.models.menus import Menu, MenuCategory, MenuItem
from orders.models.orders import (
    IllegalMove,
    Order,
    OrderItem,
    OrderNumber,
    Orders,
    VersionConflict,
    lines_in_order,
)
from orders.models.uploads import MenuUpload

__all__ = [
    "IllegalMove",
    "Menu",
    "MenuCategory",
    "MenuItem",
    "MenuUpload",
    "Order",
    "OrderItem",
    "OrderNumber",
    "Orders",
    "VersionConflict",
    "lines_in_order",
]
