"""Renames a table, and updates the table names on its reservations.

The rename and each reservation are separate transactions, so that none waits for a lock while it holds another:
bookings lock their row before the tables. If a worker crashes in between, the next rename or the periodic task updates
the remaining reservations.
"""

from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import connection, transaction

from accounts.models import EventType, Venue
from framework.db.sql_files import read_sql
from reservations.booking import table_assignment
from reservations.models import Reservation, Table
from reservations.notifications import record_change


def rename(table: Table, *, now: datetime, actor: str) -> None:
    """Store the table with its new name, and after the commit update its reservations.

    Waits for concurrent bookings of the table; later ones read the new name.
    """
    with transaction.atomic():
        Table.objects.select_for_update().get(pk=table.pk)
        table.save()
        transaction.on_commit(partial(update_table_names, venue=table.venue, now=now, actor=actor))


def update_table_names(*, venue: Venue | None = None, now: datetime, actor: str) -> int:
    """Update outdated table names on the reservations of this venue, or of all; return how many changed.

    One query, and a transaction for each reservation. Call it outside of transactions.
    """
    with connection.cursor() as cursor:
        values = {"venue": venue.pk if venue else None, "now": now}
        cursor.execute(read_sql("reservations", "outdated_table_names"), values)
        keys: list[tuple[UUID]] = cursor.fetchall()
    return sum(update_reservation(key, now=now, actor=actor) for (key,) in keys)


def update_reservation(key: UUID, *, now: datetime, actor: str) -> bool:
    """Store the current names of its tables, record the change, and return whether they changed."""
    with transaction.atomic():
        reservation = Reservation.objects.select_related("venue").get(pk=key)
        table_assignment.lock_reservation(reservation)
        names = sorted(reservation.seatings.values_list("table__name", flat=True))
        if names in ([], reservation.tables):
            return False
        reservation.tables = names
        reservation.save_version("tables", now=now)
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=None, actor=actor, now=now)
    return True
