"""Menus: selection, editing, import of files."""
