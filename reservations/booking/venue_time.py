"""Local time of a venue, and default seating durations."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import InvalidRequest

# Seating durations by party size: up to this many guests, this many minutes.
TURN_TIMES_MIN = ((2, 90), (4, 105), (6, 120))
MAX_TURN_MIN = 150
# Staff use no days outside this range: the first and the last day of the calendar have no adjacent day.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2200, 12, 31)


class NonexistentTime(InvalidRequest):
    """The venue's clock skips this time on that day."""


def default_turn_time(party_size: int) -> timedelta:
    return timedelta(minutes=next((turn for size, turn in TURN_TIMES_MIN if party_size <= size), MAX_TURN_MIN))


def to_utc(venue: Venue, *, day: date, at: time) -> datetime:
    """Convert the venue's local time to UTC; of an ambiguous time, the first. Raises NonexistentTime.

    The first and the last day of the calendar are rejected: the days before and after them are needed too.
    """
    if day in (date.min, date.max):
        raise NonexistentTime(_("This is beyond the calendar."), param="date")
    zone = ZoneInfo(venue.timezone)
    moment = datetime.combine(day, at, zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) != datetime.combine(day, at):
        message = _("On %(day)s the clocks in %(zone)s skip %(time)s.")
        values = {"day": day, "zone": venue.timezone, "time": f"{at:%H:%M}"}
        raise NonexistentTime(message % values, param="time")
    return moment


def local_time(venue: Venue, *, now: datetime) -> datetime:
    """Return the naive time on the venue's clock."""
    return now.astimezone(ZoneInfo(venue.timezone)).replace(tzinfo=None)


def local_today(venue: Venue, *, now: datetime) -> date:
    return local_time(venue, now=now).date()
