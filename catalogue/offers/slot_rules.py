"""Plan slots: the times at which a rule, the opening hours and the venue's seatings agree."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from accounts.models import Venue
from catalogue.hours.open_intervals import CLOSED_STATUSES
from catalogue.models import FlowRule, Restaurant
from catalogue.models.postgres_fields import Span
from reservations.booking.availability import list_slots
from reservations.models import Closure, ServicePeriod

PLANNING_HORIZON = timedelta(days=14)

# A slot is identified by its rule and its start.
SlotKey = tuple[int | None, datetime]


class SlotTerms(NamedTuple):
    """The fields of a FlowSlot that follow from its rule."""

    date: date
    time: time
    percent: int
    applies_to: str
    party_min: int
    party_max: int
    seats: int
    bookable_from: datetime | None
    book_before: datetime
    terms: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRestaurant:
    """A listed restaurant with everything that its slots depend on.

    `intervals` are the open intervals until `intervals_until`, None if the hours are unknown: then the venue's service
    periods decide.
    """

    restaurant: Restaurant
    venue: Venue
    is_active: bool
    has_tables: bool
    rules: Sequence[FlowRule]
    periods: Sequence[ServicePeriod]
    closures: Sequence[Closure]
    intervals: Sequence[Span] | None
    intervals_until: datetime

    @property
    def is_bookable(self) -> bool:
        """Whether tables can be booked. Without tables the venue's staff would have to confirm each booking."""
        restaurant = self.restaurant
        return (
            self.is_active
            and self.has_tables
            and restaurant.status not in CLOSED_STATUSES
            and restaurant.merged_into_id is None
            and restaurant.erased_at is None
            and self.venue.timezone == restaurant.market.timezone
        )

    def planned_until(self, *, now: datetime) -> datetime:
        return min(now + PLANNING_HORIZON, self.intervals_until)


def plan_slots(listed: ListedRestaurant, *, now: datetime) -> dict[SlotKey, SlotTerms]:
    """Return the slots of the next 14 days: seatings of the venue during the open intervals of the restaurant.

    A local time that daylight saving time skips has no slot, and one that occurs twice has a slot at its first
    occurrence.
    """
    plan: dict[SlotKey, SlotTerms] = {}
    if not listed.is_bookable:
        return plan
    today = now.astimezone(ZoneInfo(listed.venue.timezone)).date()
    # The 14 days end during the last date.
    for ahead in range(min(PLANNING_HORIZON.days, listed.venue.max_days_ahead) + 1):
        day = today + timedelta(days=ahead)
        rules = [rule for rule in listed.rules if day.weekday() in rule.weekdays and day not in rule.except_dates]
        if not rules:
            continue
        seatings = {
            slot.time: slot.starts_at
            for slot in list_slots(listed.venue, day, listed.periods, listed.closures)
            if slot.closure is None
        }
        for rule in rules:
            plan.update(_plan_rule(rule, listed, day=day, seatings=seatings, now=now))
    return plan


def _plan_rule(
    rule: FlowRule, listed: ListedRestaurant, *, day: date, seatings: Mapping[time, datetime], now: datetime
) -> Iterator[tuple[SlotKey, SlotTerms]]:
    # Larger parties need the confirmation of the staff, and offers are confirmed at once.
    party_max = min(rule.party_max, listed.venue.auto_confirm_max_party)
    if party_max < rule.party_min:
        return
    for at in list_times(rule):
        starts_at = seatings.get(at)
        if starts_at is None or not now < starts_at < listed.planned_until(now=now):
            continue
        if listed.intervals is not None and not is_within(listed.intervals, starts_at):
            continue
        yield (
            (rule.pk, starts_at),
            SlotTerms(
                date=day,
                time=at,
                percent=rule.percent,
                applies_to=rule.applies_to,
                party_min=rule.party_min,
                party_max=party_max,
                seats=rule.seats,
                bookable_from=None if rule.bookable_days is None else starts_at - timedelta(days=rule.bookable_days),
                book_before=starts_at - timedelta(minutes=rule.book_before_minutes),
                terms=rule.terms,
            ),
        )


def list_times(rule: FlowRule) -> Sequence[time]:
    """Return the local times at which a rule has slots."""
    first = rule.time.hour * 60 + rule.time.minute
    last = first if rule.until is None else rule.until.hour * 60 + rule.until.minute
    return [time(minute // 60, minute % 60) for minute in range(first, last + 1, rule.every_minutes)]


def is_within(intervals: Sequence[Span], moment: datetime) -> bool:
    """Whether one of these sorted, half-open intervals contains the moment."""
    index = bisect_right(intervals, moment, key=lambda interval: interval[0])
    return index > 0 and moment < intervals[index - 1][1]
