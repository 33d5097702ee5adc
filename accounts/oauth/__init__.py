"""The authorization server: apps, grants and tokens (OAuth 2.1)."""
