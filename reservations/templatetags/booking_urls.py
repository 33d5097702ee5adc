"""Tells templates where guests book at a venue."""

from django import template
from django.conf import settings
from django.urls import reverse

from accounts.models import Venue

register = template.Library()


@register.simple_tag
def booking_page(venue: Venue) -> str:
    """The whole address of the page on which guests book."""
    return settings.PUBLIC_BASE_URL.rstrip("/") + reverse("book", kwargs={"venue": venue.public_id})


@register.simple_tag
def public_base() -> str:
    """Where we are, without a slash at the end."""
    return settings.PUBLIC_BASE_URL.rstrip("/")
