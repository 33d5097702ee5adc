"""The rule that assigns tables to reservations and holds, in five steps:

1. Opening: times.find_slot finds the seating of a service period; it gives `starts_at`, `ends_at` and the pacing.
2. Pacing: at most `pacing_covers` guests start at one moment.
3. Candidates: active tables that are free for the whole stay and combinations of them, of the size of the party, and
   in its area if it chose one.
4. Best fit: tables before combinations, then the smallest, then by priority, then by name.
5. Persist: insert the seatings. An exclusion constraint ensures that no table is assigned twice.

Steps 3 to 5 are one statement without locks on the candidates. If a concurrent transaction was faster, it inserts
nothing and is repeated. `ON CONFLICT DO NOTHING` waits for uncommitted rivals; plain inserts would deadlock, which
PostgreSQL resolves only after a second. Staff skip steps 1 and 2, and may name the tables.

An expired hold is deleted by the next one who needs a table, so that it ends to the second without any task.

Lock order of every transaction: the row of the reservation or hold, the paced slot, the tables, the venue's tally (by
storing the status).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from psycopg.errors import DeadlockDetected

from framework.db.locks import AdvisoryLock
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest
from reservations.booking.availability import SlotUnavailable, count_covers
from reservations.models import Hold, Reservation, Seating, Table

# Each failed attempt means that another party got a table.
MAX_ATTEMPTS = 50
PACING_LOCK = AdvisoryLock("reservation pacing")

ALREADY_BOOKED = gettext_noop("Already booked at that time: %(tables)s.")
PERSIST = read_sql("reservations", "persist_seatings")
ASSIGN_BEST = read_sql("reservations", "assign_best").format(
    persist=PERSIST.format(condition="id = ANY ((SELECT tables FROM best_fit)::uuid[])")
)
ASSIGN_NAMED = f"""
    WITH {PERSIST.format(condition="venue_id = %(venue)s AND name = ANY(%(names)s)")}
    SELECT name FROM assigned JOIN chosen ON id = table_id ORDER BY name COLLATE "C"
"""  # noqa: S608  # of constants
END_SEATINGS = """
    UPDATE reservations_seating SET during = tstzrange(lower(during), %(now)s)
    WHERE reservation_id = %(reservation)s AND lower(during) < %(now)s AND upper(during) > %(now)s
"""


# SKIP LOCKED: a hold that is locked is being turned into a reservation, or deleted by another transaction.
DELETE_EXPIRED_HOLDS = """
    DELETE FROM reservations_hold WHERE id IN (
        SELECT id FROM reservations_hold WHERE venue_id = %(venue)s AND expires_at <= %(now)s
        FOR UPDATE SKIP LOCKED
    )
"""


class UnknownTable(InvalidRequest):
    """The venue has no table of this name."""


class TableTaken(SlotUnavailable):
    """The table is assigned to another reservation at that time."""


class ConcurrentAssignment(Exception):
    """A concurrent transaction got one of the chosen tables first."""


def assign_best(
    party: Reservation | Hold, *, now: datetime, pacing_covers: int | None = None, store: bool = False
) -> list[str] | None:
    """Assign the best free tables from `starts_at` to `ends_at` to a reservation or hold that this transaction stores.

    Returns their names; None, and nothing is changed, if no table is free or the pacing is exceeded. `store` writes
    the names to the row; use it before the status is stored (lock order). Four statements; each attempt lost to a
    concurrent transaction costs four more.
    """
    # Pacing. The sum spans rows, so no constraint can hold it: bookings of one moment wait for each other.
    if pacing_covers is not None:
        PACING_LOCK.acquire(f"{party.venue_id} {party.starts_at.timestamp():.0f}")
        covers = count_covers(party.venue, party.starts_at, party.starts_at, now=now, excluding=party.pk)
        if covers.get(party.starts_at, 0) + party.party_size > pacing_covers:
            return None
    # Candidates, best fit, persist.
    for _attempt in range(MAX_ATTEMPTS):
        delete_expired_holds(party.venue_id, now=now)
        try:
            with transaction.atomic():
                rows = execute(ASSIGN_BEST, party, now=now)
                if not rows:
                    return None
                ((names, is_complete),) = rows
                if not is_complete:
                    raise ConcurrentAssignment
        except ConcurrentAssignment:
            continue
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
            continue
        party.tables = list(names)
        if store:
            Reservation.objects.filter(pk=party.pk).update(tables=party.tables)
        return party.tables
    return None


def delete_expired_holds(venue_id: Any, *, now: datetime) -> bool:
    """Delete the holds of a venue that have expired, with their seatings; return whether there were any."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_EXPIRED_HOLDS, {"venue": venue_id, "now": now})
        return bool(cursor.rowcount)


def assign_named(reservation: Reservation, names: Sequence[str], *, now: datetime) -> list[str]:
    """Assign these tables, whatever their size. Raises UnknownTable, TableTaken; then nothing is changed."""
    requested = sorted(set(names))
    known = set(Table.objects.filter(venue_id=reservation.venue_id, name__in=requested).values_list("name", flat=True))
    if missing := [name for name in requested if name not in known]:
        raise UnknownTable(_("The venue has no table %(table)s.") % {"table": missing[0]}, param="tables")
    delete_expired_holds(reservation.venue_id, now=now)
    try:
        with transaction.atomic():
            assigned = [name for (name,) in execute(ASSIGN_NAMED, reservation, names=requested)]
            if taken := [name for name in requested if name not in assigned]:
                raise TableTaken(_(ALREADY_BOOKED) % {"tables": ", ".join(taken)}, param="tables")
    except OperationalError as error:
        # Two reservations that swap their tables deadlock; PostgreSQL ends one of them.
        if not isinstance(error.__cause__, DeadlockDetected):
            raise
        raise TableTaken(_(ALREADY_BOOKED) % {"tables": ", ".join(requested)}, param="tables") from error
    reservation.tables = assigned
    return assigned


def execute(statement: str, party: Reservation | Hold, **params: Any) -> list[Any]:
    """Run the statement with the values of the reservation or hold, and return its rows."""
    values: dict[str, Any] = {
        "reservation": party.pk if isinstance(party, Reservation) else None,
        "hold": party.pk if isinstance(party, Hold) else None,
        "venue": party.venue_id,
        "area": party.area_id,
        "party_size": party.party_size,
        "starts_at": party.starts_at,
        "ends_at": party.ends_at,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values | params)
        rows: list[Any] = cursor.fetchall()
    return rows


def has_tables(venue_id: Any) -> bool:
    """Return whether the venue has active tables, so that the rule applies. One query."""
    return Table.objects.filter(venue_id=venue_id, is_active=True).exists()


def lock_reservation(reservation: Reservation) -> None:
    """Lock the row and reload it; its venue stays loaded. Call it first in a transaction that changes the row."""
    venue = reservation.venue
    reservation.refresh_from_db(from_queryset=Reservation.objects.select_for_update(no_key=True))
    reservation.venue = venue


def release(reservation: Reservation) -> bool:
    """Release all its tables, and return whether it had any. Call it inside a transaction."""
    deleted, _by_model = Seating.objects.filter(reservation=reservation).delete()
    if deleted:
        reservation.tables = []
        Reservation.objects.filter(pk=reservation.pk).update(tables=[])
    return deleted > 0


def held_tables(reservation: Reservation) -> list[str]:
    """Return the current names of the tables that it has for its whole stay, so not those that ended early."""
    stay = DateTimeTZRange(reservation.starts_at, reservation.ends_at)
    seatings = Seating.objects.filter(reservation=reservation, during=stay)
    return sorted(seatings.values_list("table__name", flat=True))


def end_early(reservation: Reservation, *, now: datetime) -> bool:
    """Release its tables from now on, and return whether it had any. Seatings that have not started are deleted.

    Call it inside a transaction.
    """
    if any(seating.during.lower >= now for seating in Seating.objects.filter(reservation=reservation)):
        return release(reservation)
    with connection.cursor() as cursor:
        cursor.execute(END_SEATINGS, {"reservation": reservation.pk, "now": now})
        return bool(cursor.rowcount)
