"""The wall clock of a venue, and how long its guests stay."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from accounts.models import Venue
from framework.errors import InvalidRequest

# How long a party keeps its table, by its size: up to this many guests, this many minutes.
TURNS_MIN = ((2, 90), (4, 105), (6, 120))
LONGEST_TURN_MIN = 150


class NoSuchTime(InvalidRequest):
    """The venue's clock skips this time on that day."""


def turn_time(party_size: int) -> timedelta:
    """How long a party of this size is expected to stay where no service period says otherwise."""
    return timedelta(minutes=next((turn for most, turn in TURNS_MIN if party_size <= most), LONGEST_TURN_MIN))


def moment_of(venue: Venue, *, day: date, at: time) -> datetime:
    """The moment, in UTC, at which the venue's clock shows this; the first one where it shows it twice.

    Raises NoSuchTime where the clock jumps over it, and on the first and the last day that can be written: the evening
    before and the end of the meal are moments too.
    """
    if day in (date.min, date.max):
        raise NoSuchTime("This is beyond the calendar.", param="date")
    zone = ZoneInfo(venue.timezone)
    moment = datetime.combine(day, at, zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) != datetime.combine(day, at):
        raise NoSuchTime(f"On {day} the clocks in {venue.timezone} skip {at:%H:%M}.", param="time")
    return moment


def today_of(venue: Venue, *, now: datetime) -> date:
    """The day that it is at the venue."""
    return now.astimezone(ZoneInfo(venue.timezone)).date()
