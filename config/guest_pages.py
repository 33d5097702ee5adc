"""What apps know of reservations and venues, for the guests' pages of others (the modules called `registry`)."""

from accounts.models import Venue
from catalogue.models import FlowBooking, Listing
from framework.db.natural_sort import natural
from orders.ordering_page import registry as ordering_page
from reservations.models import Reservation, Table
from reservations.self_service import registry
from reservations.templatetags.branding import load_branding


def is_booked_at_offer(reservation: Reservation) -> bool:
    """Return whether the reservation has the time and the seats of an offer. One query."""
    return FlowBooking.objects.filter(reservation=reservation, slot__isnull=False).exists()


def find_coordinates(venue: Venue) -> tuple[float, float] | None:
    """Return latitude and longitude of the restaurant that the venue is joined to. One query."""
    rows = Listing.objects.filter(venue=venue).values_list("restaurant__latitude", "restaurant__longitude")
    latitude, longitude = rows.first() or (None, None)
    return None if latitude is None or longitude is None else (latitude, longitude)


def list_tables(venue: Venue) -> list[str]:
    """Return the names of the tables in use. One query."""
    rows = Table.objects.filter(venue=venue, is_active=True).order_by(natural("name"), "name")
    return list(rows.values_list("name", flat=True))


def register() -> None:
    registry.FIXED_RESERVATIONS.append(is_booked_at_offer)
    registry.COORDINATES.append(find_coordinates)
    ordering_page.LOOKS.append(load_branding)
    ordering_page.TABLES.append(list_tables)
