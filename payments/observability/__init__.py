"""Metrics of payments."""
