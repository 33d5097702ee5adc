"""Template tags with the look of a venue's pages for guests."""

from typing import Any

from django import template

from accounts.models import Venue
from reservations.booking_page.branding import FILES, find_branding, image_url, make_css

register = template.Library()


@register.simple_tag
def load_branding(venue: Venue) -> dict[str, Any]:
    """The `css` of a <style> element, and the paths of `logo` and `photo`; each is empty without one."""
    branding = find_branding(venue)
    return {
        "css": make_css(branding),
        "logo": FILES.thumbnail_path(branding.logo_id, "small") if branding and branding.logo_id else "",
        "photo": FILES.thumbnail_path(branding.photo_id, "large") if branding and branding.photo_id else "",
    }


@register.simple_tag
def logo_url(venue: Venue) -> str:
    """The absolute URL of the logo, for email; empty without one."""
    branding = find_branding(venue)
    return image_url(branding.logo_id, "small") if branding and branding.logo_id else ""
