"""What is on sale: the next offer of each restaurant, and how a slot stands."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from uuid import UUID

from django.db import connection, models

from config.api.ids import encode

PREFIX = "fo"

# A slot that a party could be booked into at `now`, as far as the slot itself knows.
IS_BOOKABLE = """(slot.withdrawn_at IS NULL AND slot.starts_at > %(now)s AND slot.book_before > %(now)s
    AND (slot.bookable_from IS NULL OR slot.bookable_from <= %(now)s))"""
# The index of the slots that are on sale has the third of these conditions; the second follows from `party_min`.
IS_ON_SALE = f"{IS_BOOKABLE} AND slot.seats_left >= slot.party_min AND slot.seats_left > 0"
# A restaurant that is closed for good, moved, merged or erased has no row among those that lists see.
IS_OFFERING = "listing.is_active AND NOT r.is_shut"

NEXT = f"""
SELECT listing.restaurant_id, next.id, next.percent, next.time, next.date, next.seats_left
FROM catalogue_listing AS listing
JOIN catalogue_searchrow AS r ON r.restaurant_id = listing.restaurant_id
CROSS JOIN LATERAL (
    SELECT slot.id, slot.percent, slot.time, slot.date, slot.seats_left
    FROM catalogue_flowslot AS slot
    WHERE slot.restaurant_id = listing.restaurant_id AND {IS_ON_SALE}
    ORDER BY slot.starts_at, slot.percent DESC, slot.id
    LIMIT 1
) AS next
WHERE listing.restaurant_id = ANY (%(restaurants)s::uuid[]) AND {IS_OFFERING}
"""  # noqa: S608  # constants of ours


class Status(models.TextChoices):
    """How a slot stands: what is withdrawn is not sold out, and what is over is not scheduled."""

    SCHEDULED = "scheduled"
    AVAILABLE = "available"
    SOLD_OUT = "sold_out"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Offer:
    """The next slot on sale; date and time are the restaurant's wall clock."""

    percent: int
    time: time
    date: date
    id: str
    seats_left: int


def of_row(percent: int, at: time, day: date, slot: UUID, seats_left: int) -> Offer:
    """The offer that these columns of a slot tell."""
    return Offer(percent=percent, time=at, date=day, id=encode(PREFIX, slot), seats_left=seats_left)


def next_offers(restaurants: Iterable[UUID], *, now: datetime) -> dict[UUID, Offer]:
    """The next slot on sale of each of these restaurants that has one, of two at one moment the higher.

    One query: an index look-up for each restaurant that is listed, and nothing for the others.
    """
    with connection.cursor() as cursor:
        cursor.execute(NEXT, {"restaurants": list(restaurants), "now": now})
        return {
            restaurant: of_row(percent, at, day, slot, seats_left)
            for restaurant, slot, percent, at, day, seats_left in cursor.fetchall()
        }
