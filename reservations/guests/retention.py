"""Retention: erases guests some days after their last activity, in the same way as staff erase one.

The venue sets the number of days, and the installation a maximum (`GUEST_RETENTION_DAYS`). They count from the end of
the guest's last reservation, its creation, or the last change of a note, whichever is latest.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from framework.db.sql_files import read_sql
from reservations.guests.erasure import erase_reservations
from reservations.guests.profiles import GUESTS_LOCK, Guest, find_guest, normalize_contacts
from reservations.models import Reservation

BATCH_SIZE = 200
# Well below the time limit of a task; the next run continues.
MAX_RUN_S = 60.0
EXPIRED = read_sql("reservations", "expired_guests")


def erasure_due_at(guest: Guest) -> datetime | None:
    """Return when the guest will be erased without new activity; None for never. One query."""
    limits = [days for days in (guest.venue.forgets_guests_after_days, settings.GUEST_RETENTION_DAYS) if days]
    if not limits:
        return None
    last = guest.reservations.order_by().aggregate(ends_at=Max("ends_at"), created_at=Max("created_at"))
    moments: list[datetime | None] = [*last.values(), *(profile.updated_at for profile in guest.profiles)]
    return max(moment for moment in moments if moment) + timedelta(days=min(limits))


def erase_expired_guests(*, now: datetime, venue: UUID | None = None) -> int:
    """Erase all guests whose retention is over, and return the number of reservations. Stops after MAX_RUN_S.

    Those of this venue, or of all without a clock of their own.

    Each guest is one transaction, so interrupted and concurrent runs erase each guest once.
    """
    deadline, count = time.monotonic() + MAX_RUN_S, 0
    ends_at, key = datetime.min.replace(tzinfo=UTC), UUID(int=0)
    limits: dict[str, Any] = {
        "now": now,
        "max_days": settings.GUEST_RETENTION_DAYS,
        "batch": BATCH_SIZE,
        "venue": venue,
    }
    while True:
        with connection.cursor() as cursor:
            cursor.execute(EXPIRED, limits | {"ends_at": ends_at, "id": key})
            batch = cursor.fetchall()
        if not batch:
            return count
        for ends_at, key, cutoff in batch:  # noqa: B007  # the next batch begins after the last row
            if time.monotonic() > deadline:
                return count
            count += erase_if_expired(key, cutoff=cutoff, now=now)


def erase_if_expired(key: UUID, *, cutoff: datetime, now: datetime) -> int:
    """Erase the guest of the reservation without activity since the cutoff; return the number of reservations."""
    with transaction.atomic():
        reservation = Reservation.objects.select_related("venue").filter(pk=key).first()
        if reservation is None:
            return 0
        venue = reservation.venue
        GUESTS_LOCK.acquire(venue.pk)
        contacts = normalize_contacts(reservation.customer_email, reservation.customer_phone)
        # A guest without contact data has only this reservation.
        guest = find_guest(venue, contacts) if contacts else Guest(venue, frozenset())
        reservations = guest.reservations if contacts else Reservation.objects.filter(pk=reservation.pk)
        rows = list(reservations.filter(erased_at=None).order_by("pk").select_for_update(no_key=True))
        activity = [moment for row in rows for moment in (row.ends_at, row.created_at)]
        activity += [profile.updated_at for profile in guest.profiles]
        if any(moment >= cutoff for moment in activity):
            return 0
        if rows:
            erase_reservations(rows, guest=guest, now=now, actor="system")
    return len(rows)
