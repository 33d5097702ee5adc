"""Restaurants that have a free table at one time."""

from datetime import datetime
from uuid import UUID

from catalogue.models import Listing
from reservations.booking.free_venues import find_free_venues


def find_bookable(at: datetime, *, party_size: int, market: str | None, now: datetime) -> tuple[UUID, ...]:
    """Return the keys of the restaurants, of this market if one is given, that can be booked at this local time.

    Eight queries, whatever their number. Raises InvalidRequest for a time that has passed or is too far ahead at each
    of them, and for one at which none seats guests though some do within an hour.
    """
    listings = Listing.objects.filter(is_active=True, venue__account__closed_at=None).select_related("venue")
    if market:
        listings = listings.filter(restaurant__market=market)
    by_venue = {listing.venue_id: listing for listing in listings}
    venues = [listing.venue for listing in by_venue.values()]
    free = find_free_venues(venues, day=at.date(), at=at.time(), party_size=party_size, param="bookable_at", now=now)
    return tuple(by_venue[key].restaurant_id for key in free)
