"""Geocoding of place names, and distances."""
