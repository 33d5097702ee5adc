"""Checks of what a provider writes."""
