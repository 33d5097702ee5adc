"""When a party may come: in the future, not too far ahead, and at a slot of the venue."""

from datetime import date, datetime, timedelta

from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import InvalidRequest
from reservations.booking import table_assignment
from reservations.booking.availability import DaySlots, Slot, outside_hours_error
from reservations.booking.venue_time import local_today, to_utc
from reservations.models import Hold, Reservation


class ReservationInPast(InvalidRequest):
    """The requested time is in the past."""


class DateTooFarAhead(InvalidRequest):
    """The date is after the last one that the venue accepts."""


def require_day(venue: Venue, day: date, *, now: datetime) -> None:
    """Raise ReservationInPast or DateTooFarAhead if the venue takes no reservations for this date."""
    today = local_today(venue, now=now)
    if day < today:
        message = _("%(day)s is in the past. The current date at the restaurant is %(today)s.")
        raise ReservationInPast(message % {"day": day, "today": today}, param="date")
    if day > today + timedelta(days=venue.max_days_ahead):
        message = _("Reservations are taken at most %(days)s days ahead.")
        raise DateTooFarAhead(message % {"days": venue.max_days_ahead}, param="date")


def set_start(party: Reservation | Hold, *, now: datetime) -> None:
    """Set `starts_at` of a party by its date and time. Raises ReservationInPast, DateTooFarAhead, NonexistentTime."""
    require_day(party.venue, party.date, now=now)
    party.starts_at = to_utc(party.venue, day=party.date, at=party.time)
    if party.starts_at <= now:
        raise ReservationInPast(_("%(time)s is in the past.") % {"time": f"{party.time:%H:%M}"}, param="time")


def find_slot(party: Reservation | Hold, *, now: datetime) -> Slot | None:
    """Return the slot at its time; None if the venue has no tables, and so no binding hours. Three queries.

    Raises OutsideServiceHours.
    """
    if not table_assignment.has_tables(party.venue_id):
        return None
    day = DaySlots.load(party.venue, party.date)
    slot = day.find(party.time)
    if slot is None:
        raise outside_hours_error(day, party, now=now)
    return slot
