"""Books at a moment, where nobody has named the offer: the highest discount that takes the party."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from catalogue.models import Restaurant
from catalogue.offers import booking, search
from catalogue.offers.booking import Booked, OfferExpired, SlotFull
from catalogue.offers.on_sale import Status
from catalogue.offers.search import Shown
from framework.errors import ApiError, NotFound

# More than any restaurant has of one day.
MOST = 200
# So many other times are told to who asked for one that has nothing.
MOST_TOLD = 6


class NoOfferThen(NotFound):
    """The restaurant offers nothing to this party at this minute."""


@dataclass(frozen=True, slots=True)
class Day:
    """The offers of a restaurant to a party on the day of the minute that is asked for."""

    offers: Sequence[Shown]
    day: date
    at: time
    party_size: int

    @property
    def on_sale(self) -> Sequence[Shown]:
        """Those of the minute that can be booked, the highest discount first."""
        there = [offer for offer in self.offers if offer.time == self.at and offer.status == Status.AVAILABLE]
        return sorted(there, key=lambda offer: -offer.percent)

    @property
    def refusal(self) -> ApiError:
        """The refusal of the minute, with the nearest ones of the day at which a table can be booked."""
        others = [offer for offer in self.offers if offer.time != self.at and offer.status == Status.AVAILABLE]
        nearest = sorted(others, key=lambda one: abs(minutes(one.time) - minutes(self.at)))[:MOST_TOLD]
        soonest = sorted(nearest, key=lambda one: one.time)
        times = dict.fromkeys(f"{one.time:%H:%M} ({one.percent} %)" for one in soonest)
        there = f"On that day there is {', '.join(times)}." if times else "There is none on that day."
        wish = f"for {self.party_size} at {self.at:%H:%M} on {self.day}"
        if any(offer.time == self.at and offer.status != Status.EXPIRED for offer in self.offers):
            return SlotFull(f"There is no table {wish}. {there}")
        return NoOfferThen(f"There is no offer {wish}. {there}")


def look(restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime) -> Day:
    """What there is on that day. Two queries at most. Raises InvalidRequest for a day that is over or too far."""
    offers = search.of_restaurant(restaurant, day=day, party_size=party_size, limit=MOST, now=now).rows
    return Day(offers, day, at, party_size)


def check_at(restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime) -> None:
    """Raise what `book_at` would where nothing is on sale at this minute, and book nothing. Costs what `look` does."""
    found = look(restaurant, day=day, at=at, party_size=party_size, now=now)
    if not found.on_sale:
        raise found.refusal


def book_at(restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime, **guest: Any) -> Booked:
    """Book at this minute of the restaurant's clock, at the highest discount on sale that takes the party.

    Where that is gone meanwhile, at the next one. Raises SlotFull and NoOfferThen, which say what else there is on
    that day, and what `look` raises of the day and booking.book of the guest. What `look` costs beside the booking.
    """
    found = look(restaurant, day=day, at=at, party_size=party_size, now=now)
    for offer in found.on_sale:
        with suppress(SlotFull, OfferExpired):
            return booking.book(booking.offer_key(offer.id), party_size=party_size, now=now, **guest)
    raise found.refusal


def minutes(at: time) -> int:
    """Of a day."""
    return at.hour * 60 + at.minute
