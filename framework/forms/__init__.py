"""Bases of forms."""
