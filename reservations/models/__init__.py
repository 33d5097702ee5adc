"""Reservations, tables, service hours and guests of a venue."""

from reservations.models.guest_mail import GuestMail
from reservations.models.guest_profiles import GuestContact, GuestProfile
from reservations.models.online_bookings import OnlineBooking
from reservations.models.reservations import (
    CODE_ALPHABET,
    CODE_LENGTH,
    InvalidTransition,
    Reservation,
    ReservationQuerySet,
    generate_code,
)
from reservations.models.service_hours import Closure, ServicePeriod
from reservations.models.tables import Area, Combination, Seating, Table

__all__ = [
    "CODE_ALPHABET",
    "CODE_LENGTH",
    "Area",
    "Closure",
    "Combination",
    "GuestContact",
    "GuestMail",
    "GuestProfile",
    "InvalidTransition",
    "OnlineBooking",
    "Reservation",
    "ReservationQuerySet",
    "Seating",
    "ServicePeriod",
    "Table",
    "generate_code",
]
