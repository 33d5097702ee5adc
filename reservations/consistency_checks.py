"""Consistency checks of reservations."""

from datetime import datetime
from functools import partial

from accounts.consistency_checks import check_events, check_record_counts, check_stored_responses
from framework.consistency import Checks, query
from framework.db.sql_files import read_sql
from framework.public_ids import encode
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# The checks that are SQL, with their files.
FILES = {
    "reservation_table_overlap": "check_table_overlaps",
    "reservation_seating": "check_seatings",
    "reservation_table_names": "check_table_names",
}


def checks(now: datetime) -> Checks:
    """Return the checks of tables, record counts, events and stored responses."""
    return {
        check: query(check, read_sql("reservations", file), {"now": now}, subject=partial(encode, PREFIX))
        for check, file in FILES.items()
    } | {
        "reservation_counts": check_record_counts("reservation", Reservation),
        "reservation_event": check_events("reservation", Reservation, prefix=PREFIX, now=now),
        "reservation_replay": check_stored_responses("reservation", Reservation, prefix=PREFIX),
    }
