"""Table reservations of a venue, its tables, and when it takes guests."""

from reservations.models.notices import Notice
from reservations.models.online import OnlineBooking
from reservations.models.periods import Closure, ServicePeriod
from reservations.models.reservations import (
    CODE_LENGTH,
    CODE_LETTERS,
    IllegalMove,
    Reservation,
    Reservations,
    new_code,
)
from reservations.models.tables import Area, Combination, Seating, Table
from reservations.models.visitors import Contact, Visitor

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
