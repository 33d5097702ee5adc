"""The back office of orders and menus."""

from orders.admin import menus, modifier_groups, orders, settings
