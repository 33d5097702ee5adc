"""Absolute addresses in answers."""

from django.conf import settings


def public_url(path: str) -> str:
    """The address by which callers reach this path, whatever proxy stands between them and us."""
    return f"{settings.PUBLIC_BASE_URL.rstrip('/')}{path}"
