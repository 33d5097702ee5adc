"""Prices and their changes."""
