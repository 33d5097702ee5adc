"""SQL and values of offers that can be booked now."""

from dataclasses import dataclass
from datetime import date, time
from typing import Any
from uuid import UUID

from django.db import models

from framework.public_ids import encode

PREFIX = "fo"

# A slot that can be booked at `now`, if it has seats left.
IS_BOOKABLE = """(slot.withdrawn_at IS NULL AND slot.starts_at > %(now)s AND slot.book_before > %(now)s
    AND (slot.bookable_from IS NULL OR slot.bookable_from <= %(now)s))"""
# `seats_left > 0` follows from the condition before it, but is needed for the partial index.
IS_ON_SALE = f"{IS_BOOKABLE} AND slot.seats_left >= slot.party_min AND slot.seats_left > 0"
# A restaurant that is closed for good, moved, merged or erased has no search row.
ACCEPTS_BOOKINGS = "listing.is_active AND NOT r.is_shut"

SOONEST = "slot.starts_at, slot.percent DESC"


def next_offer_join(*, condition: str = IS_ON_SALE, order: str = SOONEST) -> str:
    """Return a lateral join `offer` of the search row `r`: its first slot that fulfils the condition, or NULLs.

    The columns are the parameters of `offer_from_row`; the SQL has the parameter `now`. One index look-up per row.
    """
    return f"""LEFT JOIN LATERAL (
        SELECT slot.percent, slot.time, slot.date, slot.id, slot.seats_left
        FROM catalogue_listing listing JOIN catalogue_flowslot slot ON slot.restaurant_id = listing.restaurant_id
        WHERE listing.restaurant_id = r.restaurant_id AND {ACCEPTS_BOOKINGS} AND {condition}
        ORDER BY {order}, slot.id LIMIT 1
    ) AS offer ON true"""  # noqa: S608  # built from constants


class Status(models.TextChoices):
    SCHEDULED = "scheduled"
    AVAILABLE = "available"
    SOLD_OUT = "sold_out"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Offer:
    """The next slot on sale; date and time are the restaurant's local time."""

    percent: int
    time: time
    date: date
    id: str
    seats_left: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "percent": self.percent,
            "time": f"{self.time:%H:%M}",
            "id": self.id,
            "date": self.date,
            "seats_left": self.seats_left,
        }


def offer_from_row(percent: int, at: time, day: date, slot: UUID, seats_left: int) -> Offer:
    return Offer(percent=percent, time=at, date=day, id=encode(PREFIX, slot), seats_left=seats_left)
