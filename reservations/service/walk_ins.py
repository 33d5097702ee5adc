"""Walk-ins: parties without a reservation, seated at once at the best free table."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import transaction

from accounts.models import Venue
from reservations.booking import commands, table_assignment
from reservations.booking.waitlist import NoTableFree
from reservations.models import Reservation
from reservations.service import check_in

MAX_PARTY_SIZE = 500


def seat_walk_in(venue: Venue, *, party_size: int, now: datetime, actor: str) -> Reservation:
    """Create a confirmed and seated reservation from this minute on, without contact data.

    A venue without tables gets the reservation without a table. Raises NoTableFree; then nothing is stored.
    """
    local = now.astimezone(ZoneInfo(venue.timezone))
    reservation = Reservation(
        venue=venue,
        customer_name="Walk-in",
        is_walk_in=True,
        date=local.date(),
        time=local.time().replace(second=0, microsecond=0),
        party_size=party_size,
    )
    with transaction.atomic():
        commands.create_by_staff(reservation, status=Reservation.Status.CONFIRMED, now=now, actor=actor)
        if not reservation.tables and table_assignment.has_tables(venue.pk):
            raise NoTableFree(f"No table for {party_size} is free now.", param="party_size")
        check_in.record_arrival(reservation, Reservation.Arrival.SEATED, actor=actor, now=now)
    return reservation
