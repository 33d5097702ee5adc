"""Gives tables to reservations and takes them back. That none is given twice is a constraint of the database.

Nothing is locked while a place is chosen: the statement that chooses it also takes it, and where another booking was
quicker it takes nothing and looks again. `ON CONFLICT DO NOTHING` waits for a rival that is still under way; two plain
inserts would wait for each other until the server ends one of them, a second later.

Every transaction takes its locks in one order: the reservation's row, the slot where it is paced, the tables, and the
venue's tally last, by storing another status.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Q, Sum
from psycopg.errors import DeadlockDetected

from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from reservations.models import Reservation, Seating, Table

# Each lost try means that another party got a table, so this many at once have to be quicker before one that would
# have found room is refused.
TRIES = 50
PACING_LOCK = AdvisoryLock("reservation pacing")
# Who counts as coming: a party that only waits does not.
HOLDING = Q(status=Reservation.Status.CONFIRMED) | (Q(status=Reservation.Status.PENDING) & ~Q(tables=[]))

# The best free place for a party, taken in the same statement: tables before combinations, the smallest that seats it,
# then what the venue prefers. No row: nothing is free. False: a rival took it first. The tables keep their names until
# the transaction ends (reservations.floor.rename_table); one that is being renamed is waited for and read anew.
TAKE = """
    WITH free AS (
        SELECT id, name, seats_min, seats_max, priority
        FROM reservations_table AS its
        WHERE venue_id = %(venue)s AND is_active AND NOT EXISTS (
            SELECT FROM reservations_seating AS other
            WHERE other.table_id = its.id AND other.during && tstzrange(%(starts_at)s, %(ends_at)s)
        )
    ), place AS (
        SELECT tables
        FROM (
            SELECT 0 AS pushed, seats_max, priority, name, ARRAY[id] AS tables
            FROM free
            WHERE %(party_size)s BETWEEN seats_min AND seats_max
            UNION ALL
            SELECT 1, several.seats_max, several.priority, several.name, array_agg(free.id)
            FROM reservations_combination AS several
            JOIN reservations_combination_tables AS part ON part.combination_id = several.id
            LEFT JOIN free ON free.id = part.table_id
            WHERE several.venue_id = %(venue)s AND several.is_active
              AND %(party_size)s BETWEEN several.seats_min AND several.seats_max
            GROUP BY several.id
            HAVING count(free.id) = count(*) AND count(*) > 1
        ) AS places
        ORDER BY pushed, seats_max, priority, name COLLATE "C"
        LIMIT 1
    ), kept AS (
        SELECT id, name FROM reservations_table WHERE id = ANY ((SELECT tables FROM place)::uuid[])
        ORDER BY id FOR KEY SHARE
    ), taken AS (
        INSERT INTO reservations_seating (reservation_id, table_id, during)
        SELECT %(reservation)s, id, tstzrange(%(starts_at)s, %(ends_at)s) FROM kept ORDER BY id
        ON CONFLICT DO NOTHING
        RETURNING table_id
    )
    SELECT (SELECT array_agg(name ORDER BY name COLLATE "C") FROM kept),
           cardinality(tables) = (SELECT count(*) FROM taken)
    FROM place
"""
TAKE_NAMED = """
    WITH kept AS (
        SELECT id, name FROM reservations_table WHERE venue_id = %(venue)s AND name = ANY(%(names)s)
        ORDER BY id FOR KEY SHARE
    ), taken AS (
        INSERT INTO reservations_seating (reservation_id, table_id, during)
        SELECT %(reservation)s, id, tstzrange(%(starts_at)s, %(ends_at)s) FROM kept ORDER BY id
        ON CONFLICT DO NOTHING
        RETURNING table_id
    )
    SELECT name FROM taken JOIN kept ON id = table_id ORDER BY name COLLATE "C"
"""

CUT = """
    UPDATE reservations_seating SET during = tstzrange(lower(during), %(now)s)
    WHERE reservation_id = %(reservation)s AND lower(during) < %(now)s AND upper(during) > %(now)s
"""


class NoSuchTable(InvalidRequest):
    """The venue has no table of this name."""


class TableTaken(ApiError):
    """Somebody else has the table then."""

    code = ErrorCode.SLOT_UNAVAILABLE


class Lost(Exception):
    """A rival took a table between our look and our hand."""


def has_tables(venue_id: Any) -> bool:
    """Whether the venue gives its tables by the book. One query."""
    return Table.objects.filter(venue_id=venue_id, is_active=True).exists()


def lock(reservation: Reservation) -> None:
    """Lock the row and read it anew; its venue stays loaded. Call it first in a transaction.

    Whoever else would move, change, offer, accept or take back waits for its end, and then reads what has come of it.
    """
    venue = reservation.venue
    reservation.refresh_from_db(from_queryset=Reservation.objects.select_for_update(no_key=True))
    reservation.venue = venue


def seat(reservation: Reservation, *, pacing_covers: int | None = None) -> list[str] | None:
    """Give a stored reservation, from `starts_at` to `ends_at`, the best free place, and write its names on the row.

    None, and nothing is changed, where there is no room. Call it inside a transaction, and before the status is stored
    (the module says why). See `take` for `pacing_covers`.
    """
    names = take(reservation, pacing_covers=pacing_covers)
    if names is not None:
        Reservation.objects.filter(pk=reservation.pk).update(tables=names)
    return names


def take(reservation: Reservation, *, pacing_covers: int | None = None) -> list[str] | None:
    """Give a reservation, stored in this transaction now or later, the best free place: the names of its tables.

    None, and nothing is changed, where there is no room, or where more guests than `pacing_covers` would begin at that
    moment. Three statements; each try that a rival wins costs three more.
    """
    if pacing_covers is not None and not is_within_pacing(reservation, pacing_covers):
        return None
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                found = execute(TAKE, reservation)
                if not found:
                    return None
                ((names, is_whole),) = found
                if not is_whole:
                    raise Lost
        except Lost:
            continue
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
            continue
        reservation.tables = list(names)
        return reservation.tables
    return None


def take_named(reservation: Reservation, names: Sequence[str]) -> list[str]:
    """Give a reservation these tables, of whatever size, and no others.

    Raises NoSuchTable, TableTaken; then nothing is changed.
    """
    wanted = sorted(set(names))
    known = list(Table.objects.filter(venue_id=reservation.venue_id, name__in=wanted).values_list("name", flat=True))
    if missing := [name for name in wanted if name not in known]:
        raise NoSuchTable(f"The venue has no table {missing[0]}.", param="tables")
    try:
        with transaction.atomic():
            taken = [name for (name,) in execute(TAKE_NAMED, reservation, names=wanted)]
            if busy := [name for name in wanted if name not in taken]:
                raise TableTaken(f"Already booked at that time: {', '.join(busy)}.", param="tables")
    except OperationalError as error:
        # Two parties that are to change places wait for each other; one of them is told.
        if not isinstance(error.__cause__, DeadlockDetected):
            raise
        raise TableTaken(f"Already booked at that time: {', '.join(wanted)}.", param="tables") from error
    reservation.tables = taken
    return taken


def is_within_pacing(reservation: Reservation, pacing_covers: int) -> bool:
    """Whether at most so many guests begin at its moment with this party among them.

    The sum spans rows, so no constraint can hold it, and two bookings that do not see each other would both fit. Until
    the transaction ends it is the only one that books this moment of this venue; periods without pacing, where the
    tables' own constraint is enough, never wait here. Two statements.
    """
    PACING_LOCK.acquire(f"{reservation.venue_id} {reservation.starts_at.timestamp():.0f}")
    begin = (
        Reservation.objects.filter(HOLDING, venue_id=reservation.venue_id, starts_at=reservation.starts_at)
        .exclude(pk=reservation.pk)
        .aggregate(covers=Sum("party_size", default=0))
    )
    return bool(begin["covers"] + reservation.party_size <= pacing_covers)


def free(reservation: Reservation) -> bool:
    """Take all its tables back, and say whether it had any. Call it inside a transaction."""
    freed, _by_model = Seating.objects.filter(reservation=reservation).delete()
    if freed:
        reservation.tables = []
        Reservation.objects.filter(pk=reservation.pk).update(tables=[])
    return freed > 0


def held(reservation: Reservation) -> list[str]:
    """The names of the tables that it has for its whole stay, as they are called now; a seating cut short is none."""
    stay = DateTimeTZRange(reservation.starts_at, reservation.ends_at)
    seatings = Seating.objects.filter(reservation=reservation, during=stay)
    return sorted(seatings.values_list("table__name", flat=True))


def release_early(reservation: Reservation, *, now: datetime) -> bool:
    """Let others have its tables from now on, and say whether that freed any: the guests have left, or did not come.

    A seating that has not begun is deleted. Call it inside a transaction.
    """
    if any(seating.during.lower >= now for seating in Seating.objects.filter(reservation=reservation)):
        return free(reservation)
    with connection.cursor() as cursor:
        cursor.execute(CUT, {"reservation": reservation.pk, "now": now})
        return bool(cursor.rowcount)


def execute(statement: str, reservation: Reservation, **more: Any) -> list[Any]:
    """The rows that the statement answers for this reservation."""
    with connection.cursor() as cursor:
        cursor.execute(
            statement,
            {
                "reservation": reservation.pk,
                "venue": reservation.venue_id,
                "party_size": reservation.party_size,
                "starts_at": reservation.starts_at,
                "ends_at": reservation.ends_at,
                **more,
            },
        )
        rows: list[Any] = cursor.fetchall()
    return rows
