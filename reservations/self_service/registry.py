"""What apps above this one know of a reservation or a venue, for the guest's page. config/guest_pages.py adds it."""

from collections.abc import Callable

from accounts.models import Venue
from reservations.models import Reservation

# Whether a reservation keeps its time and party, such as one at an offer.
FIXED_RESERVATIONS: list[Callable[[Reservation], bool]] = []
# Latitude and longitude of a venue in degrees; None if unknown.
COORDINATES: list[Callable[[Venue], tuple[float, float] | None]] = []


def is_fixed(reservation: Reservation) -> bool:
    return any(known(reservation) for known in FIXED_RESERVATIONS)


def find_coordinates(venue: Venue) -> tuple[float, float] | None:
    """Return latitude and longitude in degrees; None if unknown. One query."""
    return next((found for find in COORDINATES if (found := find(venue))), None)
