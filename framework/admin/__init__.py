"""Bases and middleware of the Django admin."""
