"""Which restaurants can be booked, and what is free there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounts.models import Venue
from catalogue import places
from catalogue.models import Listing, Restaurant, SearchRow
from framework.errors import NotFound
from reservations.booking import slot_states, table_assignment


class TakesNoBookings(NotFound):
    """The restaurant is not joined to a venue that assigns tables."""

    def __init__(self) -> None:
        super().__init__("This restaurant takes no bookings here; its record may have a phone number.", param="slug")


def find_venue(slug: str) -> tuple[Restaurant, Venue]:
    """Return a restaurant that can be booked, and its venue. Three queries.

    Raises TakesNoBookings, and what places.find_restaurant raises.
    """
    restaurant = places.find_restaurant(slug)
    is_open = SearchRow.objects.filter(restaurant=restaurant, is_shut=False).exists()
    listings = Listing.objects.filter(restaurant=restaurant, is_active=True, venue__account__closed_at=None)
    listing = listings.select_related("venue").first() if is_open else None
    if listing is None or not table_assignment.has_tables(listing.venue_id):
        raise TakesNoBookings
    return restaurant, listing.venue


def check_availability(slug: str, values: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Return the values of RestaurantAvailabilityRecord. `values` are those of AvailabilityParams. About ten queries.

    Raises what find_venue and slot_states.check_availability raise.
    """
    restaurant, venue = find_venue(slug)
    asked = slot_states.check_availability(
        venue,
        first=values["date"],
        last=values.get("until"),
        party_size=values["party_size"],
        area=values.get("area"),
        now=now,
    )
    return asked | {"restaurant": restaurant.slug}


def refuse_clock(venue: Venue) -> str | None:
    """Return why the sandbox of a restaurant has no clock: its offers and deposits follow the real time."""
    if Listing.objects.filter(venue=venue).exists():
        return "This sandbox is joined to a restaurant of the data API, whose offers follow the real time."
    return None
