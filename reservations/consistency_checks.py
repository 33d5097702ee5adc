"""Consistency checks of reservations."""

from datetime import datetime
from functools import partial

from accounts.consistency_checks import events, replays, tallies
from framework.consistency import Checks, query
from framework.public_ids import encode
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# The constraint seating_no_table_overlap forbids these, but a restored copy may lack it.
TABLE_OVERLAPS = """
    SELECT seating.reservation_id,
        concat('table ', named.name, ' is also taken by another, ', other.during * seating.during)
    FROM reservations_seating AS seating
    JOIN reservations_seating AS other
        ON other.table_id = seating.table_id AND other.during && seating.during AND other.id > seating.id
    JOIN reservations_table AS named ON named.id = seating.table_id
    ORDER BY seating.id, other.id
"""
INVALID_SEATINGS = """
    SELECT reservation.id, concat('it holds table ', named.name, ' ', seating.during, ', ', CASE
        WHEN reservation.status = 'cancelled' THEN 'and is cancelled'
        WHEN named.venue_id <> reservation.venue_id THEN 'which is of another venue'
        ELSE concat('and its time is ', tstzrange(reservation.starts_at, reservation.ends_at))
    END)
    FROM reservations_seating AS seating
    JOIN reservations_reservation AS reservation ON reservation.id = seating.reservation_id
    JOIN reservations_table AS named ON named.id = seating.table_id
    WHERE reservation.status = 'cancelled' OR named.venue_id <> reservation.venue_id
        OR NOT tstzrange(reservation.starts_at, reservation.ends_at) @> seating.during
    ORDER BY seating.id
"""
# Past reservations keep the names that their tables had. A rename is applied within a minute (floor.rename_table).
TABLE_NAMES = """
    SELECT reservation.id,
        concat('it names ', array_to_string(reservation.tables, ', '), ' and holds ', held.names)
    FROM reservations_reservation AS reservation
    CROSS JOIN LATERAL (
        SELECT string_agg(named.name, ', ' ORDER BY named.name COLLATE "C") AS names,
            array_agg(named.name::text) AS name_array
        FROM reservations_seating AS seating
        JOIN reservations_table AS named ON named.id = seating.table_id
        WHERE seating.reservation_id = reservation.id AND seating.during && tstzrange(%(now)s, NULL)
    ) AS held
    WHERE reservation.ends_at > %(now)s AND NOT reservation.tables::text[] @> held.name_array
    ORDER BY reservation.id
"""


def checks(now: datetime) -> Checks:
    """Return the checks of tables, tallies, events and stored answers."""
    subject = partial(encode, PREFIX)
    return {
        "reservation_table_overlap": query("reservation_table_overlap", TABLE_OVERLAPS, subject=subject),
        "reservation_seating": query("reservation_seating", INVALID_SEATINGS, subject=subject),
        "reservation_table_names": query("reservation_table_names", TABLE_NAMES, {"now": now}, subject=subject),
        "reservation_tally": tallies("reservation", Reservation),
        "reservation_event": events("reservation", Reservation, prefix=PREFIX, now=now),
        "reservation_replay": replays("reservation", Reservation, prefix=PREFIX),
    }
