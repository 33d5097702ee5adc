"""Book the highest discount that a restaurant has at a time for a party."""

from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from catalogue.models import Restaurant
from catalogue.offers import booking, search
from catalogue.offers.booking import BookingDetails, OfferExpired, SlotFull
from catalogue.offers.on_sale import Status
from catalogue.offers.search import SlotDetails
from framework.errors import ApiError, NotFound

# More than any restaurant has on one day.
MAX_DAY_OFFERS = 200
# Other times that an error message lists.
MAX_ALTERNATIVES = 6


class NoOfferAtTime(NotFound):
    """The restaurant has no offer for this party at this time."""


def find_offers_at(
    restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime
) -> tuple[list[SlotDetails], ApiError]:
    """Return the bookable offers at a local time, the highest discount first, and the error if none can be booked.

    At most two queries. Raises InvalidRequest for a day that is over or too far.
    """
    slots = search.list_restaurant_slots(
        restaurant, day=day, party_size=party_size, limit=MAX_DAY_OFFERS, now=now
    ).rows
    available = [slot for slot in slots if slot.status == Status.AVAILABLE]
    offers = sorted((slot for slot in available if slot.time == at), key=lambda slot: -slot.percent)

    others = [slot for slot in available if slot.time != at]
    nearest = sorted(others, key=lambda slot: abs(_minute(slot.time) - _minute(at)))[:MAX_ALTERNATIVES]
    times = dict.fromkeys(
        f"{slot.time:%H:%M} ({slot.percent} %)" for slot in sorted(nearest, key=lambda slot: slot.time)
    )
    alternatives = f"On that day there is {', '.join(times)}." if times else "There is none on that day."
    request = f"for {party_size} at {at:%H:%M} on {day}"
    if any(slot.time == at and slot.status != Status.EXPIRED for slot in slots):
        return offers, SlotFull(f"There is no table {request}. {alternatives}")
    return offers, NoOfferAtTime(f"There is no offer {request}. {alternatives}")


def check_best_offer(restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime) -> None:
    """Raise what `book_best_offer` would raise if there is no offer at this time, and book nothing."""
    offers, error = find_offers_at(restaurant, day=day, at=at, party_size=party_size, now=now)
    if not offers:
        raise error


def book_best_offer(
    restaurant: Restaurant, *, day: date, at: time, party_size: int, now: datetime, **guest: Any
) -> BookingDetails:
    """Book the highest discount at a local time, or the next one if that is sold out in the meantime.

    Raises SlotFull and NoOfferAtTime, which list other times of the day, InvalidRequest for the day, and what
    booking.book_offer raises for the guest.
    """
    offers, error = find_offers_at(restaurant, day=day, at=at, party_size=party_size, now=now)
    for offer in offers:
        with suppress(SlotFull, OfferExpired):
            return booking.book_offer(booking.parse_offer_id(offer.id), party_size=party_size, now=now, **guest)
    raise error


def _minute(at: time) -> int:
    return at.hour * 60 + at.minute
