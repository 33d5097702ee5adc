"""When a restaurant is open on given days."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from catalogue import attribution as catalogue_attribution
from catalogue import places
from catalogue.hours import HORIZON_DAYS, Hours, SpecialDay, holidays
from catalogue.hours.local_time import instant
from catalogue.hours.open_spans import CLOSED, read_again, stated
from catalogue.models import Restaurant
from framework.errors import InvalidRequest

DAYS = 7
MOST_DAYS = HORIZON_DAYS
# Nobody states hours for years ahead, and the calendar of a computer has an end.
WITHIN = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Opening:
    """A span of time in which a restaurant is open, on its clock."""

    opens_at: datetime
    closes_at: datetime


@dataclass(frozen=True, slots=True)
class SpecialOpening:
    """A date that differs from the week; no periods: closed. `name` is the holiday's, where it is one."""

    date: date
    name: str | None
    periods: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class PublicHoliday:
    """A public holiday of the market, whether or not the hours say what holds on it."""

    date: date
    name: str


@dataclass(frozen=True, slots=True)
class Openings:
    """The open spans from the first midnight of `first` to the last of `last`, on the clock of `timezone`.

    Merged and in order, cut to those days; None when the hours are not known for all of these. A closure leaves none.
    """

    slug: str
    timezone: str
    first: date
    last: date
    spans: list[Opening] | None
    special_days: list[SpecialOpening]
    holidays: list[PublicHoliday]
    attribution: list[dict[str, Any]]


def of_days(slug: str, *, first: date | None, last: date | None, now: datetime) -> Openings:
    """The openings of a restaurant; a week from today where nothing is said.

    Four queries. Raises NotFound, Renamed and Gone, and InvalidRequest for days in the wrong order, too many, or more
    than a year away.
    """
    restaurant = places.find_restaurant(slug)
    hours = stated(restaurant)
    zone = ZoneInfo(hours.timezone if hours else restaurant.market.timezone)
    today = now.astimezone(zone).date()
    first = first or today
    if abs(first - today) > WITHIN:
        raise InvalidRequest("`from` must lie within a year of today.", param="from")
    last = last or first + timedelta(days=DAYS - 1)
    if not first <= last < first + timedelta(days=MOST_DAYS):
        raise InvalidRequest(f"`to` must be `from` or one of the {MOST_DAYS - 1} days after it.", param="to")
    # With the day before, whose tail may reach into the first.
    before = first - timedelta(days=1)
    names = holidays.of(restaurant.market_id, first=before, days=MOST_DAYS + 1)
    if hours:
        lat, lng = restaurant.latitude, restaurant.longitude
        hours = read_again(
            hours,
            today=today,
            first=first,
            point=None if lat is None or lng is None else (lat, lng),
            is_locked="hours" in restaurant.locked_fields,
            holidays=names.keys(),
        )
    special_days = [] if hours is None else [day for day in hours.special_days if first <= day.date <= last]
    return Openings(
        slug=restaurant.slug,
        timezone=str(zone),
        first=first,
        last=last,
        spans=_spans(restaurant, hours, zone=zone, first=first, last=last),
        special_days=[_named(day, names) for day in sorted(special_days, key=lambda day: day.date)],
        holidays=[PublicHoliday(day, name) for day, name in names.items() if first <= day <= last],
        attribution=catalogue_attribution.of_restaurants([restaurant.slug]),
    )


def _spans(
    restaurant: Restaurant, hours: Hours | None, *, zone: ZoneInfo, first: date, last: date
) -> list[Opening] | None:
    # Closure outranks hours.
    if restaurant.status in CLOSED:
        return []
    if hours is None or not hours.speaks_of(last):
        return None
    start, end = instant(zone, first.toordinal(), 0), instant(zone, last.toordinal() + 1, 0)
    found = hours.spans(start=start, end=end)
    return [Opening(opens.astimezone(zone), closes.astimezone(zone)) for opens, closes in found]


def _named(day: SpecialDay, names: dict[date, str]) -> SpecialOpening:
    return SpecialOpening(day.date, names.get(day.date), day.periods)
