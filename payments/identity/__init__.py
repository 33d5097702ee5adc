"""Identifies the callers of the data API."""
