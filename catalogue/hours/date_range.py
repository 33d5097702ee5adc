"""The open intervals, exceptions and holidays of a restaurant on given dates."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from catalogue import attribution, places
from catalogue.hours import HORIZON_DAYS, holidays, serialization
from catalogue.hours.local_time import to_instant
from catalogue.hours.open_intervals import CLOSED_STATUSES, parse_hours, reread_osm
from framework.errors import InvalidRequest

DEFAULT_DAYS = 7
MAX_DAYS = HORIZON_DAYS
# Hours are not known years ahead, and dates have a maximum.
MAX_DISTANCE = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class HoursForDates:
    """The open intervals (`spans`) from the start of `first` to the end of `last`, merged, sorted and cut to these
    days.

    `spans` is None if the hours are not known for all of these days, and empty for a closed restaurant. On
    `special_days` the weekly periods do not hold. `holidays` are those of the market, whether or not the hours mention
    them. All in the form of HoursForDatesRecord.
    """

    slug: str
    timezone: str
    first: date
    last: date
    spans: list[dict[str, datetime]] | None
    special_days: list[dict[str, Any]]
    holidays: list[dict[str, Any]]
    attribution: list[dict[str, Any]]


def list_hours(slug: str, *, first: date | None, last: date | None, now: datetime) -> HoursForDates:
    """Return the hours of a restaurant for some days, by default a week from today.

    Four queries. Raises NotFound, Renamed and Gone, and InvalidRequest for days in the wrong order, too many, or more
    than a year away.
    """
    restaurant = places.find_restaurant(slug)
    hours = parse_hours(restaurant)
    zone = ZoneInfo(hours.timezone if hours else restaurant.market.timezone)
    today = now.astimezone(zone).date()
    first = first or today
    if abs(first - today) > MAX_DISTANCE:
        raise InvalidRequest("`from` must be within a year of today.", param="from")
    last = last or first + timedelta(days=DEFAULT_DAYS - 1)
    if not first <= last < first + timedelta(days=MAX_DAYS):
        raise InvalidRequest(f"`to` must be `from` or one of the {MAX_DAYS - 1} days after it.", param="to")
    # The last interval of the day before may end on the first day; and locked hours are compared with their text in
    # the days from today.
    start_day = min(first, today) - timedelta(days=1)
    end_day = max(first, today) + timedelta(days=MAX_DAYS)
    names = holidays.holiday_names(restaurant.market_id, first=start_day, days=(end_day - start_day).days)
    if hours:
        lat, lng = restaurant.latitude, restaurant.longitude
        hours = reread_osm(
            hours,
            today=today,
            first=first,
            point=None if lat is None or lng is None else (lat, lng),
            is_locked="hours" in restaurant.locked_fields,
            holidays=names.keys(),
        )
    intervals: list[dict[str, datetime]] | None = None
    # A closure overrides hours.
    if restaurant.status in CLOSED_STATUSES:
        intervals = []
    elif hours and hours.covers_date(last):
        start, end = to_instant(zone, first.toordinal(), 0), to_instant(zone, last.toordinal() + 1, 0)
        intervals = [
            {"opens_at": opens.astimezone(zone), "closes_at": closes.astimezone(zone)}
            for opens, closes in hours.spans(start=start, end=end)
        ]
    special_days = [day for day in hours.special_days if first <= day.date <= last] if hours else []
    return HoursForDates(
        slug=restaurant.slug,
        timezone=str(zone),
        first=first,
        last=last,
        spans=intervals,
        special_days=[
            {"date": day.date, "name": names.get(day.date), "periods": serialization.write_spans(day.periods)}
            for day in sorted(special_days, key=lambda day: day.date)
        ],
        holidays=[{"date": day, "name": name} for day, name in names.items() if first <= day <= last],
        attribution=attribution.restaurant_attribution([restaurant.slug]),
    )
