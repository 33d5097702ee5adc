"""What the catalogue knows of reservations and venues, for the guest's page (reservations.self_service.registry)."""

from accounts.models import Venue
from catalogue.models import FlowBooking, Listing
from reservations.models import Reservation
from reservations.self_service import registry


def is_booked_at_offer(reservation: Reservation) -> bool:
    """Return whether the reservation has the time and the seats of an offer. One query."""
    return FlowBooking.objects.filter(reservation=reservation, slot__isnull=False).exists()


def find_coordinates(venue: Venue) -> tuple[float, float] | None:
    """Return latitude and longitude of the restaurant that the venue is joined to. One query."""
    rows = Listing.objects.filter(venue=venue).values_list("restaurant__latitude", "restaurant__longitude")
    latitude, longitude = rows.first() or (None, None)
    return None if latitude is None or longitude is None else (latitude, longitude)


def register() -> None:
    registry.FIXED_RESERVATIONS.append(is_booked_at_offer)
    registry.COORDINATES.append(find_coordinates)
