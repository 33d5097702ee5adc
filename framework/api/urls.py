"""Absolute URLs in responses."""

from django.conf import settings


def public_url(path: str) -> str:
    """The URL by which clients reach this path, through any proxy."""
    return f"{settings.PUBLIC_BASE_URL.rstrip('/')}{path}"
