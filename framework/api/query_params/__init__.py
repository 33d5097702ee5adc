"""Typed query parameters."""
