"""What is on sale: the next offer of each restaurant, and how a slot stands."""

from dataclasses import dataclass
from datetime import date, time
from uuid import UUID

from django.db import models

from framework.public_ids import encode

PREFIX = "fo"

# A slot that a party could be booked into at `now`, as far as the slot itself knows.
IS_BOOKABLE = """(slot.withdrawn_at IS NULL AND slot.starts_at > %(now)s AND slot.book_before > %(now)s
    AND (slot.bookable_from IS NULL OR slot.bookable_from <= %(now)s))"""
# The index of the slots that are on sale has the third of these conditions; the second follows from `party_min`.
IS_ON_SALE = f"{IS_BOOKABLE} AND slot.seats_left >= slot.party_min AND slot.seats_left > 0"
# A restaurant that is closed for good, moved, merged or erased has no row among those that lists see.
IS_OFFERING = "listing.is_active AND NOT r.is_shut"

SOONEST = "slot.starts_at, slot.percent DESC"


def beside(*, that: str = IS_ON_SALE, first: str = SOONEST) -> str:
    """A lateral join `offer` of the search row `r`: its first slot in this order that fulfils this, nulls where none.

    Its columns are those of `of_row`; the text has the parameter `now`. One look-up in an index for each row that is
    listed.
    """
    return f"""LEFT JOIN LATERAL (
        SELECT slot.percent, slot.time, slot.date, slot.id, slot.seats_left
        FROM catalogue_listing listing JOIN catalogue_flowslot slot ON slot.restaurant_id = listing.restaurant_id
        WHERE listing.restaurant_id = r.restaurant_id AND {IS_OFFERING} AND {that}
        ORDER BY {first}, slot.id LIMIT 1
    ) AS offer ON true"""  # noqa: S608  # constants of ours


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
