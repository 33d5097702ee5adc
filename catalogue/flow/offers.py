"""Time-based discounts: which one comes next at a restaurant."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from catalogue.hours.clock import instant
from catalogue.models import FlowRule
from catalogue.opening import CLOSED

HORIZON = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Offer:
    """The next time that a discount holds; date and time are the restaurant's wall clock."""

    percent: int
    time: time
    date: date


def next_offer(rules: Iterable[FlowRule], *, timezone: str, now: datetime) -> Offer | None:
    """The first offer from `now` until a week later, of two at the same moment the higher; None without one."""
    zone = ZoneInfo(timezone)
    today = now.astimezone(zone).date()
    coming: list[tuple[datetime, int, Offer]] = []
    for rule in rules:
        for ahead in range(HORIZON.days + 1):
            day = today + timedelta(days=ahead)
            if day.weekday() not in rule.weekdays:
                continue
            moment = instant(zone, day.toordinal(), rule.time.hour * 60 + rule.time.minute)
            if now <= moment < now + HORIZON:
                coming.append((moment, -rule.percent, Offer(percent=rule.percent, time=rule.time, date=day)))
                break
    return min(coming, key=lambda found: found[:2])[2] if coming else None


def next_offers(zones: Mapping[UUID, str], *, now: datetime) -> dict[UUID, Offer]:
    """The next offer of each restaurant that has one, by restaurant; `zones` maps restaurants to their time zones.

    One query. A restaurant that is closed, for a while or for good, offers nothing.
    """
    rules: dict[UUID, list[FlowRule]] = defaultdict(list)
    active = FlowRule.objects.filter(restaurant__in=list(zones), active=True)
    for rule in active.exclude(restaurant__status__in=CLOSED):
        rules[rule.restaurant_id].append(rule)
    found = {place: next_offer(own, timezone=zones[place], now=now) for place, own in rules.items()}
    return {place: offer for place, offer in found.items() if offer is not None}
