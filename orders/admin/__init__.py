"""The back office of orders and menus."""

from orders.admin import checkout_sessions, menus, modifier_groups, orders, settings
