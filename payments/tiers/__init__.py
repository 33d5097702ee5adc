"""Tiers, token holdings and plans."""
