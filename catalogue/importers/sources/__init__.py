"""Readers of the sources."""
