"""Finds guests of a venue by a part of their name, mail address or phone number."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.models import Venue
from framework.public_ids import encode
from reservations.guests.profiles import contacts_of
from reservations.models.reservations import PREFIX

# So many reservations are looked at, newest first, and so many guests shown.
MOST_HITS = 1000
MOST_GUESTS = 50
SHORTEST = 2
# Who is shown before anybody is searched for: the guests of so many reservations before this moment, and after it.
RECENT, UPCOMING = 150, 50
COLUMNS = "id, customer_name, customer_email, customer_phone, starts_at, status, arrival"
# The words of the index reservation_by_guest_trigrams, as Django writes its Concat.
GUEST = r"""upper(coalesce(customer_name, '')::text || coalesce(E'\n'::text || coalesce(
    coalesce(customer_email, '')::text || coalesce(E'\n'::text || coalesce(customer_phone, '')::text, ''), ''), ''))"""
# The hits are found by it before they are put in order:
# otherwise the planner would walk through the days of the venue for them.
SEARCH = f"""
    WITH hits AS MATERIALIZED (
        SELECT {COLUMNS} FROM reservations_reservation
        WHERE venue_id = %(venue)s AND erased_at IS NULL
          AND {GUEST} LIKE %(pattern)s
    )
    SELECT * FROM hits ORDER BY starts_at DESC, id DESC LIMIT {MOST_HITS}
"""  # noqa: S608  # of constants alone
AROUND = f"""
    (SELECT {COLUMNS} FROM reservations_reservation
     WHERE venue_id = %(venue)s AND erased_at IS NULL AND starts_at <= %(now)s
     ORDER BY starts_at DESC LIMIT {RECENT})
    UNION ALL
    (SELECT {COLUMNS} FROM reservations_reservation
     WHERE venue_id = %(venue)s AND erased_at IS NULL AND starts_at > %(now)s
     ORDER BY starts_at LIMIT {UPCOMING})
"""  # noqa: S608  # of constants alone


@dataclass(slots=True)
class Found:
    """A guest in a list: by which reservation their page is found, and what the newest one calls them."""

    reservation: UUID
    name: str
    contacts: set[str] = field(default_factory=set)
    last_visit: datetime | None = None
    next_visit: datetime | None = None
    no_shows: int = 0
    reservations: int = 0

    @property
    def public_id(self) -> str:
        """That of the newest reservation."""
        return encode(PREFIX, self.reservation)

    @property
    def mails(self) -> list[str]:
        """Their addresses."""
        return sorted(contact for contact in self.contacts if not contact.startswith("+"))

    @property
    def phones(self) -> list[str]:
        """Their numbers."""
        return sorted(contact for contact in self.contacts if contact.startswith("+"))


def search(venue: Venue, text: str, *, now: datetime) -> list[Found]:
    """Guests whose name, address or number holds this text, in any case; who came last stands first. One query."""
    return guests_among(rows_of(SEARCH, venue=venue.pk, pattern=pattern_of(text)), now=now)


def around(venue: Venue, *, now: datetime) -> list[Found]:
    """Guests of the last reservations and of the next. One query."""
    rows = rows_of(AROUND, venue=venue.pk, now=now)
    return guests_among(sorted(rows, key=lambda row: row[4], reverse=True), now=now)


def pattern_of(text: str) -> str:
    """What LIKE looks for: a number without what people write between its digits, else the words as they are."""
    wanted = " ".join(text.split())
    if re.fullmatch(r"[+0-9 ()./-]+", wanted):
        wanted = re.sub(r"[^+0-9]", "", wanted)
        wanted = f"+{wanted[2:]}" if wanted.startswith("00") else wanted
    return "%" + re.sub(r"([\\%_])", r"\\\1", wanted.upper()) + "%"


def rows_of(statement: str, **named: Any) -> list[tuple[Any, ...]]:
    """The reservations that it answers."""
    with connection.cursor() as cursor:
        cursor.execute(statement, named)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def guests_among(rows: Iterable[tuple[Any, ...]], *, now: datetime) -> list[Found]:
    """The guests of these reservations, newest first; who shares a contact is one, and who left none is nobody."""
    by_contact: dict[str, Found] = {}
    order: list[Found] = []
    for key, name, email, phone, starts_at, status, arrival in rows:
        contacts = contacts_of(email, phone)
        if not contacts:
            continue
        known = list({id(by_contact[one]): by_contact[one] for one in contacts if one in by_contact}.values())
        found = known[0] if known else Found(reservation=key, name=name)
        if not known:
            order.append(found)
        for other in known[1:]:
            absorb(found, other)
            order.remove(other)
        found.contacts |= contacts
        by_contact.update(dict.fromkeys(found.contacts, found))
        note(found, starts_at, status, arrival, now=now)
    return order[:MOST_GUESTS]


def absorb(found: Found, other: Found) -> None:
    """Count what was taken for another guest among theirs."""
    found.contacts |= other.contacts
    found.no_shows += other.no_shows
    found.reservations += other.reservations
    lasts = [moment for moment in (found.last_visit, other.last_visit) if moment]
    nexts = [moment for moment in (found.next_visit, other.next_visit) if moment]
    found.last_visit, found.next_visit = max(lasts, default=None), min(nexts, default=None)


def note(found: Found, starts_at: datetime, status: str, arrival: str | None, *, now: datetime) -> None:
    """Count one reservation."""
    found.reservations += 1
    found.no_shows += arrival == "no_show"
    if starts_at > now and status != "cancelled":
        found.next_visit = min(found.next_visit or starts_at, starts_at)
    elif status == "confirmed" and arrival != "no_show" and starts_at <= now:
        found.last_visit = max(found.last_visit or starts_at, starts_at)
