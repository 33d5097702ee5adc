"""When an order can be ready: preparation times, and how many orders the kitchen finishes in a slot."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.errors import ApiError, ErrorCode, InvalidRequest
from orders.menu.selection import OrderingTerms
from orders.models import OrderSlot

PARAM = "fulfilment.requested_at"
# How far ahead a free slot is looked for.
HORIZON = timedelta(days=1)
# It waits for concurrent orders of its slot, so of two for the last place one succeeds.
TAKE_SLOT = """
INSERT INTO orders_orderslot AS slot (venue_id, starts_at, orders) VALUES (%(venue)s, %(starts_at)s, 1)
ON CONFLICT (venue_id, starts_at) DO UPDATE SET orders = slot.orders + 1 WHERE slot.orders < %(capacity)s
RETURNING orders
"""
RELEASE_SLOT = """
UPDATE orders_orderslot SET orders = orders - 1 WHERE venue_id = %(venue)s AND starts_at = %(starts_at)s AND orders > 0
RETURNING orders
"""


class SlotUnavailable(ApiError):
    """The kitchen cannot finish the order at the requested time; `alternatives` has the next time."""

    code = ErrorCode.SLOT_UNAVAILABLE


def promise(
    venue: Venue, terms: OrderingTerms, *, prep_minutes: int, requested_at: datetime | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """Take a place in a slot; return the promised time and the start of the slot.

    Both are None for a venue that promises nothing, the slot for a venue without a capacity. An order for the earliest
    time gets the first slot with a place. Call it in the transaction of the order. Raises SlotUnavailable with the
    next time for a requested one that is full or too early.
    """
    if terms.prep_minutes is None:
        return requested_at, None
    earliest = now + timedelta(minutes=max(terms.prep_minutes, prep_minutes))
    wanted = requested_at or earliest
    if wanted < earliest.replace(second=0, microsecond=0):
        raise _unavailable("The kitchen needs more time.", find_free_time(venue, terms, earliest))
    if terms.orders_per_slot is None:
        return wanted, None
    for time in [wanted] if requested_at else chain([wanted], list_free_slots(venue, terms, wanted)):
        slot = floor_to_slot(time, terms)
        if take_slot(venue, slot, terms.orders_per_slot):
            return time, slot
    if requested_at is None:
        raise SlotUnavailable(_("The kitchen takes no further orders for a day."), extra={"alternatives": []})
    raise _unavailable("The kitchen takes no more orders for this time.", find_free_time(venue, terms, wanted))


def check_requested_time(venue: Venue, requested_at: datetime, *, now: datetime) -> None:
    """Raise InvalidRequest for a time that has passed or is further ahead than the venue takes reservations."""
    if requested_at < now:
        raise InvalidRequest(_("This time has passed."), param=PARAM)
    if requested_at > now + timedelta(days=venue.max_days_ahead):
        raise InvalidRequest(_("This is more than %(days)s days ahead.") % {"days": venue.max_days_ahead}, param=PARAM)


def _unavailable(message: str, next_at: datetime | None) -> SlotUnavailable:
    times = [format_datetime(next_at)] if next_at else []
    hint = f" The next time is {times[0]}." if times else ""
    return SlotUnavailable(message + hint, param=PARAM, extra={"alternatives": times})


def floor_to_slot(time: datetime, terms: OrderingTerms) -> datetime:
    """Return the start of the slot; slots divide each UTC hour."""
    minute = time.minute - time.minute % terms.slot_minutes
    return time.astimezone(UTC).replace(minute=minute, second=0, microsecond=0)


def list_free_slots(venue: Venue, terms: OrderingTerms, after: datetime) -> Iterator[datetime]:
    """Yield the starts of the slots after this time that have a place, within a day. One query."""
    first, length = floor_to_slot(after, terms), timedelta(minutes=terms.slot_minutes)
    full = set(
        OrderSlot.objects.filter(
            venue=venue, starts_at__gt=first, starts_at__lte=first + HORIZON, orders__gte=terms.orders_per_slot
        ).values_list("starts_at", flat=True)
    )
    for number in range(1, HORIZON // length + 1):
        if (slot := first + number * length) not in full:
            yield slot


def find_free_time(venue: Venue, terms: OrderingTerms, wanted: datetime) -> datetime | None:
    """Return the first time from `wanted` on, in whole minutes, in a slot that has a place. At most two queries."""
    time = (wanted + timedelta(seconds=59)).replace(second=0, microsecond=0)
    if terms.orders_per_slot is None:
        return time
    slot = OrderSlot.objects.filter(venue=venue, starts_at=floor_to_slot(time, terms)).first()
    if slot is None or slot.orders < terms.orders_per_slot:
        return time
    return next(list_free_slots(venue, terms, time), None)


def take_slot(venue: Venue, starts_at: datetime, capacity: int) -> bool:
    """Take a place in the slot; False if it is full."""
    values = {"venue": venue.pk, "starts_at": starts_at, "capacity": capacity}
    return bool(prepared_statements.execute_returning(TAKE_SLOT, values))


def release_slot(venue: UUID, starts_at: datetime) -> None:
    """Give the place of a cancelled order back."""
    prepared_statements.execute_returning(RELEASE_SLOT, {"venue": venue, "starts_at": starts_at})


def delete_past_slots(*, now: datetime) -> int:
    """Delete the slots of days that are over; return how many."""
    return OrderSlot.objects.filter(starts_at__lt=now - timedelta(days=1)).delete()[0]
