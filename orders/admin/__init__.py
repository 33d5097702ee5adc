"""The back office of orders and menus."""

from orders.admin import menus, orders
