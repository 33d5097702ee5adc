"""Rebuilding and verifying the read model."""
