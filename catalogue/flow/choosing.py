"""Books at a moment, where nobody has named the offer: the highest discount that takes the party."""

from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from catalogue.flow import booking, finding
from catalogue.flow.booking import Booked, OfferExpired, SlotFull
from catalogue.flow.finding import Shown
from catalogue.flow.offers import Status
from catalogue.models import Restaurant
from config.api.refusal import NotFound, Refusal

# More than any restaurant has of one day.
MOST = 200
# So many other times are told to who asked for one that has nothing.
MOST_TOLD = 6


class NoOfferThen(NotFound):
    """The restaurant offers nothing to this party at this minute."""


def check(offer: str, *, now: datetime) -> None:
    """Refuse what nobody can book, before a person is asked who is coming. One query.

    Raises NoSuchOffer and OfferExpired.
    """
    if finding.one(booking.offer_key(offer), now=now).status in (Status.EXPIRED, Status.WITHDRAWN):
        raise OfferExpired("This offer is over.")


def book_at(restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime, **guest: Any) -> Booked:
    """Book at this minute of the restaurant's clock, at the highest discount on sale that takes the party.

    Where that is gone meanwhile, at the next one. Raises SlotFull and NoOfferThen, which say what else there is on
    that day, and what booking.book raises of the guest. One query beside those of the booking.
    """
    offers = finding.of_restaurant(restaurant, day=day, party_size=party_size, limit=MOST, now=now).rows
    on_sale = [offer for offer in offers if offer.status == Status.AVAILABLE]
    for offer in sorted((one for one in on_sale if one.time == at), key=lambda one: -one.percent):
        with suppress(SlotFull, OfferExpired):
            return booking.book(booking.offer_key(offer.id), party_size=party_size, now=now, **guest)
    others = [offer for offer in on_sale if offer.time != at]
    if any(offer.time == at and offer.status != Status.EXPIRED for offer in offers):
        raise refused(SlotFull, "There is no table", others, day=day, at=at, party_size=party_size)
    raise refused(NoOfferThen, "There is no offer", others, day=day, at=at, party_size=party_size)


def refused(
    refusal: type[Refusal], words: str, others: list[Shown], *, day: date, at: time, party_size: int
) -> Refusal:
    """The refusal of a minute, with the nearest ones of that day at which a table can be booked."""
    nearest = sorted(others, key=lambda one: abs(minutes(one.time) - minutes(at)))[:MOST_TOLD]
    times = dict.fromkeys(f"{one.time:%H:%M} ({one.percent} %)" for one in sorted(nearest, key=lambda one: one.time))
    there = f"On that day there is {', '.join(times)}." if times else "There is none on that day."
    return refusal(f"{words} for {party_size} at {at:%H:%M} on {day}. {there}")


def minutes(at: time) -> int:
    """Of a day."""
    return at.hour * 60 + at.minute
