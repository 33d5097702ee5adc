"""Orders, menus and menu uploads."""

from orders.models.menus import Allergen, DishPhoto, Menu, MenuCategory, MenuItem, MenuUpload
from orders.models.orders import (
    InvalidTransition,
    Order,
    OrderItem,
    OrderNumber,
    Orders,
    VersionConflict,
    lines_in_order,
)
