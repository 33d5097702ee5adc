"""Dashboard pages of orders and menus."""
