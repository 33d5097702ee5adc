"""Forgets guests whom a venue has known for as long as it means to, by itself and in the way staff erase one.

How long that is a venue says, and the installation may say at most (`GUEST_RETENTION_DAYS`). It counts from the end
of a guest's last reservation, or from when that was made or something was noted, if that is later.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from accounts.models import Venue
from reservations.guests.erasure import blank_all
from reservations.guests.profiles import GUESTS_LOCK, Guest, contacts_of, known_by
from reservations.models import Reservation

ACTOR = "system"
BATCH = 200
# Well below what a task may take; what is left is for the next hour of the night.
MOST_S = 60.0
# Reservations that name somebody of whom the venue has not heard since, by their mail address or number.
DUE = """
SELECT one.ends_at, one.id, kept.since
FROM accounts_venue AS venue
CROSS JOIN LATERAL (
    SELECT %(now)s - make_interval(days => least(venue.forgets_guests_after_days, nullif(%(most_days)s, 0))) AS since
) AS kept
JOIN reservations_reservation AS one ON one.venue_id = venue.id AND one.starts_at < kept.since
WHERE one.erased_at IS NULL AND one.ends_at < kept.since AND one.created_at < kept.since
    AND (one.ends_at, one.id) > (%(ends_at)s, %(id)s)
    AND NOT EXISTS (
        SELECT FROM reservations_reservation AS later
        WHERE later.venue_id = one.venue_id AND (later.ends_at >= kept.since OR later.created_at >= kept.since)
            AND (lower(later.customer_email) = lower(one.customer_email) OR later.customer_phone = one.customer_phone)
    )
ORDER BY one.ends_at, one.id
LIMIT %(batch)s
"""


@dataclass(frozen=True, slots=True)
class Old:
    """A reservation that may be forgotten, with all of its guest, if nothing of theirs is as late as `since`."""

    ends_at: datetime
    id: UUID
    since: datetime


def days_kept(venue: Venue) -> int | None:
    """How many days this venue knows its guests after their last reservation, None for ever."""
    said = [days for days in (venue.forgets_guests_after_days, settings.GUEST_RETENTION_DAYS) if days]
    return min(said, default=None)


def forgotten_at(guest: Guest) -> datetime | None:
    """When this guest will be forgotten if nothing new comes, None for never. One query."""
    days = days_kept(guest.venue)
    if days is None:
        return None
    last = guest.reservations.order_by().aggregate(ends_at=Max("ends_at"), created_at=Max("created_at"))
    moments: list[datetime | None] = [*last.values(), *(visitor.updated_at for visitor in guest.visitors)]
    return max(moment for moment in moments if moment) + timedelta(days=days)


def forget_past(*, now: datetime) -> int:
    """Forget all guests whose time is over; how many reservations were theirs. Stops after MOST_S.

    Each guest in a transaction of its own: a run that is killed, or goes on beside another, does nothing twice.
    """
    until, count = time.monotonic() + MOST_S, 0
    after = Old(datetime.min.replace(tzinfo=UTC), UUID(int=0), now)
    while rows := due(now=now, after=after):
        for old in rows:
            if time.monotonic() > until:
                return count
            count += forget_guest(old, now=now)
        after = rows[-1]
    return count


def due(*, now: datetime, after: Old) -> Sequence[Old]:
    """The next that may be forgotten, the oldest first."""
    values: dict[str, Any] = {
        "now": now,
        "most_days": settings.GUEST_RETENTION_DAYS,
        "ends_at": after.ends_at,
        "id": after.id,
    }
    with connection.cursor() as cursor:
        cursor.execute(DUE, values | {"batch": BATCH})
        return [Old(*row) for row in cursor.fetchall()]


def forget_guest(old: Old, *, now: datetime) -> int:
    """Forget who made this reservation, unless they have been heard of since; how many were theirs."""
    with transaction.atomic():
        its = Reservation.objects.select_related("venue").filter(pk=old.id).first()
        if its is None:
            return 0
        GUESTS_LOCK.acquire(its.venue_id)
        contacts = contacts_of(its.customer_email, its.customer_phone)
        # A party that left neither address nor number is nobody's but this reservation's.
        guest = known_by(its.venue, contacts) if contacts else Guest(its.venue, frozenset())
        theirs = guest.reservations if contacts else Reservation.objects.filter(pk=its.pk)
        rows = list(theirs.filter(erased_at=None).order_by("pk").select_for_update(no_key=True))
        moments = [moment for row in rows for moment in (row.ends_at, row.created_at)]
        if any(moment >= old.since for moment in (*moments, *(one.updated_at for one in guest.visitors))):
            return 0
        if rows:
            blank_all(rows, guest=guest, now=now, actor=ACTOR)
    return len(rows)
