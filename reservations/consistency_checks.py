"""Consistency checks of reservations."""

from datetime import datetime
from functools import partial

from accounts.consistency_checks import check_events, check_record_counts, check_stored_responses
from framework.consistency import Checks, query
from framework.public_ids import encode
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# A constraint keeps these out; a copy that was restored without it, or a hand in the database, may not.
SOLD_TWICE = """
    SELECT its.reservation_id, concat('table ', named.name, ' is also taken by another, ', other.during * its.during)
    FROM reservations_seating AS its
    JOIN reservations_seating AS other
        ON other.table_id = its.table_id AND other.during && its.during AND other.id > its.id
    JOIN reservations_table AS named ON named.id = its.table_id
    ORDER BY its.id, other.id
"""
SEATINGS = """
    SELECT its.id, concat('it holds table ', named.name, ' ', seating.during, ', ', CASE
        WHEN its.status = 'cancelled' THEN 'and is cancelled'
        WHEN named.venue_id <> its.venue_id THEN 'which is of another venue'
        ELSE concat('and its time is ', tstzrange(its.starts_at, its.ends_at))
    END)
    FROM reservations_seating AS seating
    JOIN reservations_reservation AS its ON its.id = seating.reservation_id
    JOIN reservations_table AS named ON named.id = seating.table_id
    WHERE its.status = 'cancelled' OR named.venue_id <> its.venue_id
        OR NOT tstzrange(its.starts_at, its.ends_at) @> seating.during
    ORDER BY seating.id
"""
# Who has which tables is told twice, by the row and by its seatings. Those that are over keep the names by which the
# guests knew their tables, and a table that was renamed just now is called so within a minute
# (reservations.floor.rename_table).
NAMES = """
    SELECT its.id, concat('it names ', array_to_string(its.tables, ', '), ' and holds ', held.names)
    FROM reservations_reservation AS its
    CROSS JOIN LATERAL (
        SELECT string_agg(named.name, ', ' ORDER BY named.name COLLATE "C") AS names,
            array_agg(named.name::text) AS those
        FROM reservations_seating AS seating
        JOIN reservations_table AS named ON named.id = seating.table_id
        WHERE seating.reservation_id = its.id AND seating.during && tstzrange(%(now)s, NULL)
    ) AS held
    WHERE its.ends_at > %(now)s AND NOT its.tables::text[] @> held.those
    ORDER BY its.id
"""


def checks(now: datetime) -> Checks:
    """Tables, tallies, events and stored answers of reservations agree."""
    subject = partial(encode, PREFIX)
    return {
        "table_sold_twice": query("table_sold_twice", SOLD_TWICE, subject=subject),
        "seating": query("seating", SEATINGS, subject=subject),
        "seating_names": query("seating_names", NAMES, {"now": now}, subject=subject),
        "reservation_counts": check_record_counts("reservation", Reservation),
        "reservation_event": check_events("reservation", Reservation, prefix=PREFIX, now=now),
        "reservation_replay": check_stored_responses("reservation", Reservation, prefix=PREFIX),
    }
