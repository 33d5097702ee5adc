"""Searches the guests of a venue by a part of their name, email address or phone number."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.models import Venue
from framework.db.sql_files import read_sql
from framework.phone_numbers import remove_phone_format
from framework.public_ids import encode
from reservations.guests.profiles import UNMARKED_IS_VISIT_AFTER, normalize_contacts
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

# Newest matching reservations that are read, and guests that are returned.
MAX_HITS = 1000
MAX_GUESTS = 50
MIN_QUERY_LENGTH = 2
# Reservations before and after now whose guests are listed without a query.
RECENT, UPCOMING = 150, 50
COLUMNS = ("id", "customer_name", "customer_email", "customer_phone", "starts_at", "status", "arrival")


@dataclass(slots=True)
class GuestHit:
    """A guest in a list, with the id and the name of the newest reservation."""

    reservation: UUID
    name: str
    contacts: set[str] = field(default_factory=set)
    last_visit: datetime | None = None
    next_visit: datetime | None = None
    visits: int = 0
    no_shows: int = 0
    reservations: int = 0

    @property
    def public_id(self) -> str:
        return encode(PREFIX, self.reservation)

    @property
    def emails(self) -> list[str]:
        return sorted(contact for contact in self.contacts if not contact.startswith("+"))

    @property
    def phones(self) -> list[str]:
        return sorted(contact for contact in self.contacts if contact.startswith("+"))

    def add_reservation(self, starts_at: datetime, status: str, arrival: str | None, *, now: datetime) -> None:
        self.reservations += 1
        self.no_shows += arrival == "no_show"
        # As in profiles.is_past_visit.
        latest_visit = now if arrival else now - UNMARKED_IS_VISIT_AFTER
        if starts_at > now and status != "cancelled":
            self.next_visit = min(self.next_visit or starts_at, starts_at)
        elif status == "confirmed" and arrival != "no_show" and starts_at <= latest_visit:
            self.visits += 1
            self.last_visit = max(self.last_visit or starts_at, starts_at)

    def merge(self, other: "GuestHit") -> None:
        """Add the numbers of a hit that turned out to be the same guest."""
        self.contacts |= other.contacts
        self.visits += other.visits
        self.no_shows += other.no_shows
        self.reservations += other.reservations
        self.last_visit = max(filter(None, (self.last_visit, other.last_visit)), default=None)
        self.next_visit = min(filter(None, (self.next_visit, other.next_visit)), default=None)


def search(venue: Venue, text: str, *, now: datetime) -> list[GuestHit]:
    """Return guests whose name, email address or number contains the text, latest reservation first. One query."""
    return group_by_guest(find_rows(venue, text, limit=MAX_HITS), now=now)


def find_rows(venue: Venue, text: str, *, limit: int) -> list[tuple[Any, ...]]:
    """Return COLUMNS of the reservations of these guests, latest first. One query."""
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"venue": venue.pk, "pattern": like_pattern(text), "limit": limit}
        cursor.execute(read_sql("reservations", "search_guests"), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def list_recent(venue: Venue, *, now: datetime) -> list[GuestHit]:
    """Return the guests of recent and upcoming reservations. One query."""
    rows = Reservation.objects.filter(venue=venue, erased_at=None).values_list(*COLUMNS)
    upcoming = rows.filter(starts_at__gt=now).order_by("starts_at")[:UPCOMING]
    recent = rows.filter(starts_at__lte=now).order_by("-starts_at")[:RECENT]
    return group_by_guest(recent.union(upcoming, all=True).order_by("-starts_at"), now=now)


def like_pattern(text: str) -> str:
    """Return the pattern for LIKE; of a phone number only the digits count, and `00` equals `+`."""
    query = remove_phone_format(" ".join(text.split()))
    return "%" + re.sub(r"([\\%_])", r"\\\1", query.upper()) + "%"


def group_by_guest(rows: Iterable[tuple[Any, ...]], *, now: datetime) -> list[GuestHit]:
    """Group reservations, newest first, by shared contacts; those without contact data are left out."""
    by_contact: dict[str, GuestHit] = {}
    hits: list[GuestHit] = []
    for key, name, email, phone, starts_at, status, arrival in rows:
        contacts = normalize_contacts(email, phone)
        if not contacts:
            continue
        known = [by_contact[contact] for contact in contacts if contact in by_contact]
        hit = known[0] if known else GuestHit(reservation=key, name=name)
        if not known:
            hits.append(hit)
        for other in known[1:]:
            if other is not hit:
                hit.merge(other)
                hits = [item for item in hits if item is not other]
        hit.contacts |= contacts
        by_contact.update(dict.fromkeys(hit.contacts, hit))
        hit.add_reservation(starts_at, status, arrival, now=now)
    return hits[:MAX_GUESTS]
