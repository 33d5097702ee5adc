"""Parties that come in without a reservation: seated at once at the best table that is free."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.db import transaction

from accounts.models import Venue
from framework.errors import InvalidRequest
from reservations.booking import commands, table_assignment
from reservations.booking.waitlist import NoRoom
from reservations.models import Reservation
from reservations.service import check_in

NAME = "Walk-in"
MOST = 500


def seat(venue: Venue, *, party_size: int, name: str = "", now: datetime, actor: str) -> Reservation:
    """Write the party down from this minute on, and seat it. Nobody asks who walks in how they are reached.

    Where the venue has no tables in its books it is written down as seated. Raises InvalidRequest, NoRoom; then
    nothing is stored.
    """
    if not 1 <= party_size <= MOST:
        raise InvalidRequest(f"A party has 1 to {MOST} guests.", param="party_size")
    wall = now.astimezone(ZoneInfo(venue.timezone))
    reservation = Reservation(
        venue=venue,
        customer_name=name or NAME,
        is_walk_in=True,
        date=wall.date(),
        time=wall.time().replace(second=0, microsecond=0),
        party_size=party_size,
    )
    with transaction.atomic():
        commands.write_down(reservation, status=Reservation.Status.CONFIRMED, now=now, actor=actor)
        if not reservation.tables and table_assignment.has_tables(venue.pk):
            raise NoRoom(f"No table for {party_size} is free now.", param="party_size")
        check_in.mark(reservation, Reservation.Arrival.SEATED, actor=actor, now=now)
    return reservation
