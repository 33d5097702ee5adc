"""When a restaurant is open on given days."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from catalogue.hours.clock import instant
from catalogue.models import Restaurant
from catalogue.opening import CLOSED, read_again, stated
from config.api.refusal import InvalidRequest, NotFound

DAYS = 7
MOST_DAYS = 60
# Nobody states hours for years ahead, and the calendar of a computer has an end.
WITHIN = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Opening:
    """A span of time in which a restaurant is open, on its clock."""

    opens_at: datetime
    closes_at: datetime


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


def of_days(slug: str, *, first: date | None, last: date | None, now: datetime) -> Openings:
    """The openings of a restaurant; a week from today where nothing is said.

    One query. Raises NotFound, and InvalidRequest for days in the wrong order, too many, or more than a year away.
    """
    restaurant = Restaurant.objects.select_related("market").filter(slug=slug).first()
    if restaurant is None:
        raise NotFound("There is no restaurant of this slug.")
    hours = stated(restaurant)
    zone = ZoneInfo(hours.timezone if hours else restaurant.market.timezone)
    today = now.astimezone(zone).date()
    first = first or today
    if abs(first - today) > WITHIN:
        raise InvalidRequest("`from` must lie within a year of today.", param="from")
    last = last or first + timedelta(days=DAYS - 1)
    if not first <= last < first + timedelta(days=MOST_DAYS):
        raise InvalidRequest(f"`to` must be `from` or one of the {MOST_DAYS - 1} days after it.", param="to")
    spans: list[Opening] | None = None
    if restaurant.status in CLOSED:
        spans = []
    elif hours:
        lat, lng = restaurant.latitude, restaurant.longitude
        hours = read_again(
            hours,
            today=today,
            first=first,
            point=None if lat is None or lng is None else (lat, lng),
            is_locked="hours" in restaurant.locked_fields,
        )
        if hours.speaks_of(last):
            start, end = instant(zone, first.toordinal(), 0), instant(zone, last.toordinal() + 1, 0)
            found = hours.spans(start=start, end=end)
            spans = [Opening(opens.astimezone(zone), closes.astimezone(zone)) for opens, closes in found]
    return Openings(slug=restaurant.slug, timezone=str(zone), first=first, last=last, spans=spans)
