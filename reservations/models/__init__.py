"""Table reservations of a venue, its tables, and when it takes guests."""

from reservations.models.guest_mail import Notice
from reservations.models.guest_profiles import Contact, Visitor
from reservations.models.online_bookings import OnlineBooking
from reservations.models.reservations import (
    CODE_LENGTH,
    CODE_LETTERS,
    IllegalMove,
    Reservation,
    Reservations,
    new_code,
)
from reservations.models.service_hours import Closure, ServicePeriod
from reservations.models.tables import Area, Combination, Seating, Table

__all__ = [
    "CODE_LENGTH",
    "CODE_LETTERS",
    "Area",
    "Closure",
    "Combination",
    "Contact",
    "IllegalMove",
    "Notice",
    "OnlineBooking",
    "Reservation",
    "Reservations",
    "Seating",
    "ServicePeriod",
    "Table",
    "Visitor",
    "new_code",
]
