"""Gives a table another name, and then calls it so in the reservations that have it.

The table is locked for its new name alone, and each reservation by itself after that, so that nobody waits for a lock
while holding another: a booking takes its row before its tables. A worker that dies in between has renamed the table,
and `mend` finds what still says the old name, at the next rename or the next look by the minute.
"""

from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import connection, transaction

from accounts.models import EventType, Venue
from reservations.booking import table_assignment
from reservations.models import Reservation, Table
from reservations.notifications import tell

# Reservations to come whose row names other tables than their seatings. Those that are over keep the names by which
# the guests knew their tables.
MISNAMED = """
    SELECT its.id
    FROM reservations_reservation AS its
    JOIN reservations_seating AS seating ON seating.reservation_id = its.id
    JOIN reservations_table AS named ON named.id = seating.table_id
    WHERE seating.during && tstzrange(%(now)s, NULL) AND (%(venue)s::uuid IS NULL OR named.venue_id = %(venue)s)
      AND its.ends_at > %(now)s
    GROUP BY its.id
    HAVING NOT its.tables::text[] @> array_agg(named.name::text)
    ORDER BY its.id
"""


def rename(table: Table, *, now: datetime, actor: str) -> None:
    """Store the table, which has a new name, and once that is committed name it so in the reservations to come.

    It waits for bookings of the table that are under way; later ones read the new name.
    """
    with transaction.atomic():
        Table.objects.select_for_update().get(pk=table.pk)
        table.save()
        transaction.on_commit(partial(mend, venue=table.venue, now=now, actor=actor))


def mend(*, venue: Venue | None = None, now: datetime, actor: str) -> int:
    """Name the tables of reservations to come, of this venue or of all, as they are called; say for how many.

    One query, and a transaction of its own for each reservation. Call it outside of one.
    """
    with connection.cursor() as cursor:
        cursor.execute(MISNAMED, {"venue": venue.pk if venue else None, "now": now})
        misnamed: list[tuple[UUID]] = cursor.fetchall()
    return sum(name_again(key, now=now, actor=actor) for (key,) in misnamed)


def name_again(key: UUID, *, now: datetime, actor: str) -> bool:
    """Name the tables of one reservation as they are called, tell of it, and say whether that is new."""
    with transaction.atomic():
        reservation = Reservation.objects.select_related("venue").get(pk=key)
        table_assignment.lock(reservation)
        names = sorted(reservation.seatings.values_list("table__name", flat=True))
        if names in ([], reservation.tables):
            return False
        reservation.tables = names
        reservation.version += 1
        reservation.updated_at = now
        reservation.save(update_fields=["tables", "version", "updated_at"])
        tell(reservation, EventType.RESERVATION_UPDATED, notice=None, actor=actor, now=now)
    return True
