"""Rebuild, compare and repair the read model."""
