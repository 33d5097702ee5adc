"""Which of many venues have a free table at one local time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import Venue
from framework.errors import InvalidRequest
from reservations.booking.availability import (
    ONE_DAY,
    DayAvailability,
    DaySlots,
    list_places_of,
    list_slots,
    minute_of_day,
)
from reservations.booking.slot_states import SlotState, slot_state
from reservations.booking.times import DateTooFarAhead, ReservationInPast
from reservations.booking.venue_time import local_time, local_today
from reservations.models import Closure, Hold, Reservation, Seating, ServicePeriod
from reservations.models.reservations import IS_EXPECTED

# From the time that is asked for.
MAX_NEAR_MIN = 60


def find_free_venues(
    venues: Sequence[Venue], *, day: date, at: time, party_size: int, param: str, now: datetime
) -> set[UUID]:
    """Return the keys of the venues where a booking at this time, on the clock of each, gets a table at once.

    By the rule of a booking (slot_states.slot_state). Seven queries, whatever the number of venues. Raises
    InvalidRequest for `param` if the time has passed or is too far ahead at each of them, and if none seats guests
    exactly then but some do within an hour.
    """
    if not venues:
        return set()
    # A day out of range is none of the calendar's first and last days, which lack a neighbour.
    to_come = [venue for venue in venues if datetime.combine(day, at) > local_time(venue, now=now)]
    if not to_come:
        raise ReservationInPast("This time has passed at the restaurants that take bookings.", param=param)
    venues = [venue for venue in to_come if (day - local_today(venue, now=now)).days <= venue.max_days_ahead]
    if not venues:
        most = max(venue.max_days_ahead for venue in to_come)
        raise DateTooFarAhead(f"The restaurants take bookings at most {most} days ahead.", param=param)
    periods = _by_venue(ServicePeriod.objects.filter(venue__in=venues).order_by("first_seating", "name", "id"))
    closures = Closure.objects.filter(venue__in=venues, first_date__lte=day, last_date__gte=day - ONE_DAY)
    closed = _by_venue(closures.order_by("first_date", "id"))
    slots = {}
    times: set[time] = set()
    for venue in venues:
        hours = DaySlots(venue, day, tuple(list_slots(venue, day, periods[venue.pk], closed[venue.pk])))
        times.update(slot.time for slot in hours.open_slots() if slot.starts_at > now)
        slot = hours.find(at)
        if slot and slot.starts_at > now:
            slots[venue.pk] = (hours, slot)
    if not slots:
        if at not in times:
            require_no_time_near(at, times, param=param)
        return set()
    places = list_places_of(list(slots))
    first = min(slot.starts_at for _, slot in slots.values())
    last = max(slot.ends_at(party_size) for _, slot in slots.values())
    seatings = Seating.objects.filter(table__venue__in=slots, during__overlap=(first, last))
    taken: dict[UUID, list[tuple[datetime, datetime]]] = defaultdict(list)
    for table, during in seatings.exclude(hold__expires_at__lte=now).values_list("table_id", "during"):
        taken[table].append((during.lower, during.upper))
    covers: dict[UUID, dict[datetime, int]] = defaultdict(lambda: defaultdict(int))
    span = Q(venue__in=slots, starts_at__range=(first, last))
    for rows in (Reservation.objects.filter(IS_EXPECTED, span), Hold.objects.active(now=now).filter(span)):
        for venue_id, starts_at, size in rows.order_by().values_list("venue_id", "starts_at", "party_size"):
            covers[venue_id][starts_at] += size
    return {
        key
        for key, (hours, slot) in slots.items()
        if slot_state(
            DayAvailability(hours=hours, places=places[key], taken=taken, covers=covers[key], now=now),
            slot,
            party_size,
        )[0]
        == SlotState.FREE
    }


def require_no_time_near(at: time, times: Iterable[time], *, param: str) -> None:
    """Raise InvalidRequest, which names the nearest of the times, if some are within an hour."""
    distances = {each: abs(minute_of_day(each) - minute_of_day(at)) for each in times}
    near = sorted((each for each in distances if distances[each] <= MAX_NEAR_MIN), key=lambda each: distances[each])
    if near:
        named = " and ".join(f"{each:%H:%M}" for each in sorted(near[:2]))
        raise InvalidRequest(f"No restaurant seats guests at {at:%H:%M} that day. Near it: {named}.", param=param)


def _by_venue(rows: Iterable[ServicePeriod] | Iterable[Closure]) -> dict[UUID, list[Any]]:
    groups: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        groups[row.venue_id].append(row)
    return groups
