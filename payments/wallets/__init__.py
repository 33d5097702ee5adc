"""Wallets linked to an account."""
