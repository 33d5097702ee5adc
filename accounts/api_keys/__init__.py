"""API keys: creation, authentication, limits."""
