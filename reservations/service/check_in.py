"""Arrivals, recorded by staff: arrived, seated, finished, no-show."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from accounts.models import EventType
from reservations.booking import table_assignment, terms, waitlist
from reservations.models import InvalidTransition, Reservation
from reservations.notifications import record_change

Arrival, Status = Reservation.Arrival, Reservation.Status
NOT_ARRIVED = Q(arrival__isnull=True)
# The arrival states from which each state can be reached.
ALLOWED_FROM = {
    Arrival.ARRIVED: NOT_ARRIVED | Q(arrival=Arrival.NO_SHOW),
    Arrival.SEATED: NOT_ARRIVED | Q(arrival=Arrival.ARRIVED),
    Arrival.FINISHED: Q(arrival=Arrival.SEATED),
    Arrival.NO_SHOW: NOT_ARRIVED,
}
# An arrival so long before the reservation is a mistake.
MAX_EARLY = timedelta(hours=12)
DEPARTED = {Arrival.FINISHED, Arrival.NO_SHOW}


class InvalidArrival(InvalidTransition):
    """The arrival state cannot follow the current one, or cannot be recorded yet."""


def record_arrival(reservation: Reservation, arrival: Reservation.Arrival, *, actor: str, now: datetime) -> bool:
    """Set the arrival state of a confirmed party, and return whether it changed. Raises InvalidArrival.

    A departed party releases its tables and triggers the waiting list. If it arrives after all it gets no table back,
    and the names of its former tables are removed. Its deposit is returned, or kept of a party that has not come. One
    conditional UPDATE, so concurrent calls take effect in order.
    """
    is_due = Q(starts_at__lte=now if arrival == Arrival.NO_SHOW else now + MAX_EARLY)
    with transaction.atomic():
        row = Reservation.objects.filter(ALLOWED_FROM[arrival], is_due, pk=reservation.pk, status=Status.CONFIRMED)
        is_updated = row.update(arrival=arrival, version=F("version") + 1, updated_at=now)
        reservation.refresh_from_db(fields=["status", "arrival", "tables", "starts_at", "version", "updated_at"])
        if not is_updated:
            if reservation.arrival == arrival:
                return False
            raise InvalidArrival(rejection_message(reservation, arrival, now=now), param="arrival")
        if arrival in DEPARTED and table_assignment.end_early(reservation, now=now):
            waitlist.schedule_offers(reservation.venue)
        elif arrival == Arrival.ARRIVED and not table_assignment.held_tables(reservation):
            table_assignment.release(reservation)
        if arrival == Arrival.NO_SHOW:
            terms.keep_deposit(reservation, now=now)
        else:
            terms.return_deposit(reservation, actor=actor, now=now)
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=None, actor=actor, now=now)
    return True


def rejection_message(reservation: Reservation, arrival: Reservation.Arrival, *, now: datetime) -> str:
    """Return why this arrival state cannot be recorded now."""
    if reservation.status != Status.CONFIRMED:
        message = _("This reservation is %(status)s. Arrivals are recorded for confirmed reservations only.")
        return message % {"status": reservation.get_status_display().lower()}
    if arrival == Arrival.NO_SHOW and not reservation.arrival and reservation.starts_at > now:
        return _("The reservation time has not been reached yet.")
    if reservation.starts_at > now + MAX_EARLY:
        return _("Arrivals can be recorded from 12 hours before the reservation time.")
    if reservation.arrival is None:
        return _("This party has not arrived yet, so it cannot be %(wanted)s.") % {
            "wanted": Arrival(arrival).label.lower()
        }
    labels = {"arrival": Arrival(reservation.arrival).label.lower(), "wanted": Arrival(arrival).label.lower()}
    return _("This party is %(arrival)s and cannot become %(wanted)s.") % labels
