"""Menus: item selection for orders, editing, and import of files."""
