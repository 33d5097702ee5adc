"""The venues of restaurants that have joined: where guests book and order, and the venue's own photo."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import F
from django.urls import reverse

from catalogue.models import Listing
from orders.ordering_page.online_orders import find_settings
from reservations.booking_page.branding import FILES, find_branding
from reservations.booking_page.online_booking import is_open


@dataclass(frozen=True, slots=True)
class GuestPages:
    """The paths of a venue's pages for guests, and of its photo; each is empty where there is none."""

    book: str = ""
    order: str = ""
    photo: str = ""


NONE = GuestPages()


def find_guest_pages(slugs: Collection[str]) -> Mapping[str, GuestPages]:
    """Return the pages of those restaurants that have joined, by slug. One query, none without slugs."""
    if not slugs:
        return {}
    listings = (
        Listing.objects.filter(restaurant__slug__in=slugs, is_active=True, venue__account__closed_at=None)
        .select_related("venue__account", "venue__branding", "venue__ordering_settings", "venue__menu")
        .annotate(slug=F("restaurant__slug"))
    )
    found = {}
    for listing in listings:
        venue, branding = listing.venue, find_branding(listing.venue)
        menu = getattr(venue, "menu", None)
        takes_orders = menu is not None and menu.is_published and find_settings(venue) is not None
        found[listing.slug] = GuestPages(
            book=reverse("book", kwargs={"venue": venue.public_id}) if is_open(venue) else "",
            order=reverse("ordering", kwargs={"venue": venue.public_id}) if takes_orders else "",
            photo=FILES.thumbnail_path(branding.photo_id, "large") if branding and branding.photo_id else "",
        )
    return found
