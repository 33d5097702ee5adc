"""Which slots a restaurant's rules make: where the rules, the opening hours and the venue's book agree."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from accounts.models import Venue
from catalogue.hours.open_spans import CLOSED
from catalogue.models import FlowRule, Restaurant
from catalogue.models.postgres_fields import Span
from reservations.booking.availability import list_slots
from reservations.models import Closure, ServicePeriod

AHEAD = timedelta(days=14)

# Slots are known by their rule and their moment.
Key = tuple[int | None, datetime]


class Terms(NamedTuple):
    """What a rule says of a slot; the names are those of FlowSlot."""

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
class Place:
    """A listed restaurant with all that its slots follow from.

    `spans` is when it is open until `spans_until`, None where that is not known: then the venue's book decides alone.
    """

    restaurant: Restaurant
    venue: Venue
    is_active: bool
    has_tables: bool
    rules: Sequence[FlowRule]
    periods: Sequence[ServicePeriod]
    closures: Sequence[Closure]
    spans: Sequence[Span] | None
    spans_until: datetime

    @property
    def can_offer(self) -> bool:
        """Whether a table can be had here at all. Without tables each booking waits for the staff's word."""
        its = self.restaurant
        return (
            self.is_active
            and self.has_tables
            and its.status not in CLOSED
            and its.merged_into_id is None
            and its.erased_at is None
            and self.venue.timezone == its.market.timezone
        )

    def until(self, *, now: datetime) -> datetime:
        """How far ahead it is known what is offered."""
        return min(now + AHEAD, self.spans_until)


def wanted(place: Place, *, now: datetime) -> dict[Key, Terms]:
    """The slots from `now` on, 14 days ahead: at a seating of the venue that is open, while the restaurant is open.

    A time that the clocks skip is no seating, and of one that they show twice the first counts.
    """
    return dict(_slots(place, now=now)) if place.can_offer else {}


def _slots(place: Place, *, now: datetime) -> Iterator[tuple[Key, Terms]]:
    today = now.astimezone(ZoneInfo(place.venue.timezone)).date()
    # The last moment may fall on the day after the 14th.
    for ahead in range(min(AHEAD.days, place.venue.max_days_ahead) + 1):
        day = today + timedelta(days=ahead)
        rules = [rule for rule in place.rules if day.weekday() in rule.weekdays]
        if not rules:
            continue
        seatings = {
            slot.time: slot.starts_at
            for slot in list_slots(place.venue, day, place.periods, place.closures)
            if slot.closure is None
        }
        for rule in rules:
            yield from _slots_of_rule(rule, place, day=day, seatings=seatings, now=now)


def _slots_of_rule(
    rule: FlowRule, place: Place, *, day: date, seatings: Mapping[time, datetime], now: datetime
) -> Iterator[tuple[Key, Terms]]:
    # A larger party waits for the staff's word, and an offer is confirmed at once or not at all.
    party_max = min(rule.party_max, place.venue.auto_confirm_max_party)
    if party_max < rule.party_min:
        return
    for at in times(rule):
        starts_at = seatings.get(at)
        if starts_at is None or not now < starts_at < place.until(now=now):
            continue
        if place.spans is not None and not is_within(place.spans, starts_at):
            continue
        yield (
            (rule.pk, starts_at),
            Terms(
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


def times(rule: FlowRule) -> Sequence[time]:
    """The times of day at which the rule has a slot."""
    first = rule.time.hour * 60 + rule.time.minute
    last = first if rule.until is None else rule.until.hour * 60 + rule.until.minute
    return [time(minute // 60, minute % 60) for minute in range(first, last + 1, rule.every_minutes)]


def is_within(spans: Sequence[Span], moment: datetime) -> bool:
    """Whether one of these sorted, half-open spans holds the moment."""
    found = bisect_right(spans, moment, key=lambda span: span[0])
    return found > 0 and moment < spans[found - 1][1]
