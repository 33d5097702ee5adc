"""Reminds guests of their table, once."""

from datetime import datetime

from django.db import connection, transaction

from reservations.dispatch import ring_for_notices

# One statement, so that two at once write each reminder once. Who booked or was last written to less than 24 hours
# before needs none.
WRITE = """
    INSERT INTO reservations_notice (id, reservation_id, kind, state, tries, next_try_at, last_error, created_at)
    SELECT uuidv7(), reservation.id, 'reminder', 'pending', 0, %(now)s, '', %(now)s
    FROM reservations_reservation AS reservation JOIN accounts_venue AS venue ON venue.id = reservation.venue_id
    WHERE reservation.starts_at > %(now)s AND reservation.starts_at <= %(now)s + interval '24 hours'
        AND reservation.status = 'confirmed' AND reservation.arrival IS NULL
        AND reservation.created_at <= reservation.starts_at - interval '24 hours'
        AND reservation.customer_email IS NOT NULL AND venue.mails_guests
        AND NOT EXISTS (
            SELECT FROM reservations_notice AS told
            WHERE told.reservation_id = reservation.id
                AND told.created_at > reservation.starts_at - interval '24 hours'
        )
    ON CONFLICT (reservation_id) WHERE kind = 'reminder' DO NOTHING
"""


def write(*, now: datetime) -> int:
    """Store the reminders that are due and have a worker send them; return how many. One statement for all venues."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(WRITE, {"now": now})
        written: int = cursor.rowcount
        if written:
            transaction.on_commit(ring_for_notices)
    return written
