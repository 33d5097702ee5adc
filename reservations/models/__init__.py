"""Reservations, holds, tables, service hours, guests and branding of a venue."""

from reservations.models.branding import Branding, BrandingImage
from reservations.models.guests import GuestContact, GuestMail, GuestProfile, OnlineBooking
from reservations.models.holds import Hold
from reservations.models.reservations import (
    InvalidTransition,
    Reservation,
    generate_code,
)
from reservations.models.service_hours import Closure, ServicePeriod
from reservations.models.tables import Area, Combination, Seating, Table
from reservations.models.terms import AgreedTerms, CancellationTerms
