"""What a party gets at each time of a day, by the rule of a booking (commands.decide)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import InvalidRequest
from reservations.booking.availability import (
    ONE_DAY,
    DayAvailability,
    DaySlots,
    Slot,
    find_area,
    has_place_for,
    list_areas,
    list_places,
    list_slots,
    load_hours,
)
from reservations.booking.terms import Terms, list_terms
from reservations.booking.times import require_day
from reservations.booking.venue_time import local_today
from reservations.models import Area, CancellationTerms

# Of one answer: a calendar month.
MAX_DAYS = 31


class SlotState(StrEnum):
    """What a reservation gets: a table at once, an answer of the staff, a place on the waiting list, or nothing."""

    FREE = "free"
    REQUEST = "request"
    WAITLIST = "waitlist"
    FULL = "full"


class SlotReason(StrEnum):
    """Why a time is not free."""

    MANUAL = "manual"
    LARGE_PARTY = "large_party"
    NO_TABLE = "no_table"
    PACING = "pacing"
    PARTY_SIZE = "party_size"


class DayState(StrEnum):
    """The best state of its times; `on_request`: guests may request any time, because no hours bind."""

    FREE = "free"
    REQUEST = "request"
    WAITLIST = "waitlist"
    FULL = "full"
    CLOSED = "closed"
    ON_REQUEST = "on_request"


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """A time of a day; `reason` is None if it is free, and `terms` if the venue states none for it."""

    slot: Slot
    ends_at: datetime
    state: SlotState
    reason: SlotReason | None = None
    terms: Terms | None = None

    @property
    def time(self) -> time:
        return self.slot.time

    @property
    def period(self) -> str:
        return self.slot.period.name


@dataclass(frozen=True, slots=True)
class DayChoices:
    """The times of a day that are still to come; `message` says why there are none, or none is free."""

    day: date
    state: DayState
    message: str = ""
    choices: tuple[SlotChoice, ...] = ()

    @property
    def is_on_request(self) -> bool:
        """Whether the staff confirm every booking of the day."""
        return self.state == DayState.ON_REQUEST or (
            bool(self.choices) and all(choice.state == SlotState.REQUEST for choice in self.choices)
        )

    def by_period(self) -> list[tuple[str, list[SlotChoice]]]:
        groups: dict[str, list[SlotChoice]] = {}
        for choice in self.choices:
            groups.setdefault(choice.period, []).append(choice)
        return list(groups.items())


def list_days(
    venue: Venue,
    first: date,
    last: date,
    *,
    party_size: int,
    area: Area | None = None,
    excluding: UUID | None = None,
    paid_usdc: Decimal | None = None,
    now: datetime,
) -> list[DayChoices]:
    """Return the choices of these days, up to the last day that the venue accepts. At most seven queries.

    `excluding` is the key of a reservation that is to be moved: its own tables and guests do not count. `paid_usdc` is
    the deposit of a guest who cannot pay one here: free times that ask for a higher one can only be requested.
    """
    last = min(last, local_today(venue, now=now) + venue.max_days_ahead * ONE_DAY)
    hours = load_hours(venue, first - ONE_DAY, last)
    days = [first + count * ONE_DAY for count in range((last - first).days + 1)]
    if not days:
        return []
    slots = [DaySlots(venue=venue, day=day, slots=tuple(list_slots(venue, day, *hours))) for day in days]
    availability = DayAvailability.load_days(slots, places=list_places(venue, area=area), excluding=excluding, now=now)
    rows = list_terms(venue)
    return [day_choices(day, party_size, rows, paid_usdc=paid_usdc) for day in availability]


def check_availability(
    venue: Venue, *, first: date, last: date | None, party_size: int, area: str | None, now: datetime
) -> dict[str, Any]:
    """Return the values of AvailabilityRecord: the choices of some days, and the areas. At most eight queries.

    Days after the last one that the venue accepts are left out. Raises ReservationInPast, DateTooFarAhead, and
    InvalidRequest for a bad range and an unknown area.
    """
    last = last or first
    require_day(venue, first, now=now)
    if not 0 <= (last - first).days < MAX_DAYS:
        raise InvalidRequest(f"`until` must be 0 to {MAX_DAYS - 1} days after `date`.", param="until")
    areas = list_areas(venue)
    chosen = find_area(areas, area) if area else None
    return {
        "party_size": party_size,
        "area": chosen.name if chosen else None,
        "timezone": venue.timezone,
        "areas": [each.name for each in areas],
        "days": list_days(venue, first, last, party_size=party_size, area=chosen, now=now),
    }


def day_choices(
    availability: DayAvailability,
    party_size: int,
    rows: Sequence[CancellationTerms],
    *,
    paid_usdc: Decimal | None = None,
) -> DayChoices:
    """Return the choices of a party on a day; `rows` are the terms of the venue."""
    hours, slots = availability.hours, availability.upcoming_slots()
    if availability.places:
        closed = closed_message(hours, slots)
        if closed:
            return DayChoices(hours.day, DayState.CLOSED, closed)
    choices = tuple(
        SlotChoice(
            slot,
            slot.ends_at(party_size),
            *slot_state(availability, slot, party_size),
            terms=Terms.at(
                rows,
                venue=hours.venue,
                day=hours.day,
                starts_at=slot.starts_at,
                party_size=party_size,
                now=availability.now,
            ),
        )
        for slot in slots
    )
    if paid_usdc is not None:
        choices = tuple(request_deposit(choice, paid_usdc) for choice in choices)
    if not choices:
        return DayChoices(hours.day, DayState.ON_REQUEST)
    # The states are declared from the best to the worst.
    states = {choice.state for choice in choices}
    best = DayState(next(state for state in SlotState if state in states))
    if best in (DayState.FREE, DayState.REQUEST):
        return DayChoices(hours.day, best, choices=choices)
    message = _("No table for %(party_size)s is available on this day.") % {"party_size": party_size}
    return DayChoices(hours.day, best, message, choices)


def request_deposit(choice: SlotChoice, paid_usdc: Decimal) -> SlotChoice:
    """Return the choice of a guest who cannot pay a deposit: a request if the time asks for more than was paid."""
    asked = choice.terms.deposit_usdc if choice.terms else None
    if choice.state != SlotState.FREE or asked is None or asked <= paid_usdc:
        return choice
    return replace(choice, state=SlotState.REQUEST, reason=SlotReason.MANUAL)


def closed_message(hours: DaySlots, upcoming: Sequence[Slot]) -> str:
    """Return why a venue with tables seats nobody any more on this day; empty if it does."""
    if not hours.slots:
        return _("There are no seating times on this day.")
    if not hours.open_slots():
        return hours.closed_message(hours.slots[0].time)
    return "" if upcoming else _("No seating times are left today.")


def slot_state(availability: DayAvailability, slot: Slot, party_size: int) -> tuple[SlotState, SlotReason | None]:
    """Return what a party gets at this time, and why it is not free."""
    venue, places = availability.hours.venue, availability.places
    # Without tables the hours do not bind: the staff confirm each request.
    if not places:
        return SlotState.REQUEST, SlotReason.MANUAL
    if party_size > venue.auto_confirm_max_party:
        return SlotState.REQUEST, SlotReason.LARGE_PARTY
    if not has_place_for(places, party_size):
        return SlotState.FULL, SlotReason.PARTY_SIZE
    if availability.exceeds_pacing(slot, party_size):
        reason = SlotReason.PACING
    elif not availability.has_free_place(slot, party_size):
        reason = SlotReason.NO_TABLE
    else:
        return SlotState.FREE, None
    waits = venue.when_full == Venue.WhenFull.WAITLIST
    return SlotState.WAITLIST if waits else SlotState.FULL, reason
