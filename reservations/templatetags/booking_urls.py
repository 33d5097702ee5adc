"""Template tags with the URLs of a venue's booking page."""

from django import template
from django.conf import settings
from django.urls import reverse

from accounts.models import Venue

register = template.Library()


@register.simple_tag
def booking_page(venue: Venue) -> str:
    """The absolute URL of the booking page."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + reverse("book", kwargs={"venue": venue.public_id})


@register.simple_tag
def public_base() -> str:
    """The base URL of the installation, without a trailing slash."""
    return settings.PUBLIC_BASE_URL.rstrip("/")
