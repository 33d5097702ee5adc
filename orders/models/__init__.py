"""Orders of a venue, and the menu that they are chosen from."""

from orders.models.menu_uploads import MenuUpload
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
