"""What staff have seen of the guests: they arrived, sat down, left, or did not come."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from accounts.models import EventType
from framework.errors import ApiError, ErrorCode
from reservations.booking import table_assignment, waitlist
from reservations.models import Reservation
from reservations.notifications import tell

Arrival, Status = Reservation.Arrival, Reservation.Status
NOT_SEEN = Q(arrival__isnull=True)
# What each may follow.
AFTER = {
    Arrival.ARRIVED: NOT_SEEN | Q(arrival=Arrival.NO_SHOW),
    Arrival.SEATED: NOT_SEEN | Q(arrival=Arrival.ARRIVED),
    Arrival.FINISHED: Q(arrival=Arrival.SEATED),
    Arrival.NO_SHOW: NOT_SEEN,
}
# Guests come early, never days before; a mark so early is a wrong line of the list.
EARLY = timedelta(hours=12)
# Nobody sits at the table any more.
GONE = {Arrival.FINISHED, Arrival.NO_SHOW}


class IllegalArrival(ApiError):
    """Guests are not seen in this order."""

    code = ErrorCode.INVALID_TRANSITION


def mark(reservation: Reservation, arrival: Reservation.Arrival, *, actor: str, now: datetime) -> bool:
    """Write down what was seen of a confirmed party, and say whether that is new.

    When the guests have left, or did not come, their tables are free for the rest of the time and the waiting list is
    looked through. Who comes after all is `arrived` again, and gets no table back by that: another party may have it.
    What was cut is given up, so that the reservation names no table that it does not have.
    One conditional UPDATE, so of two concurrent marks each counts once and in a legal order. Raises IllegalArrival.
    """
    due = Q(starts_at__lte=now if arrival == Arrival.NO_SHOW else now + EARLY)
    with transaction.atomic():
        marked = Reservation.objects.filter(AFTER[arrival], due, pk=reservation.pk, status=Status.CONFIRMED).update(
            arrival=arrival, version=F("version") + 1, updated_at=now
        )
        reread(reservation)
        if not marked:
            if reservation.arrival == arrival:
                return False
            raise IllegalArrival(why_not(reservation, arrival, now=now), param="arrival")
        if arrival in GONE and table_assignment.release_early(reservation, now=now):
            waitlist.look_again(reservation.venue)
            reread(reservation)
        elif (
            arrival == Arrival.ARRIVED
            and not table_assignment.held(reservation)
            and table_assignment.free(reservation)
        ):
            reread(reservation)
        tell(reservation, EventType.RESERVATION_UPDATED, notice=None, actor=actor, now=now)
    return True


def why_not(reservation: Reservation, arrival: Reservation.Arrival, *, now: datetime) -> str:
    """Why this cannot be seen of the party now."""
    if reservation.status != Status.CONFIRMED:
        return f"This reservation is {reservation.status}. Arrivals are recorded for confirmed reservations only."
    if arrival == Arrival.NO_SHOW and not reservation.arrival and reservation.starts_at > now:
        return "The reservation time has not been reached yet."
    if reservation.starts_at > now + EARLY:
        return "Arrivals can be recorded from 12 hours before the reservation time."
    if reservation.arrival is None:
        return f"This party has not arrived yet, so it cannot be {arrival}."
    return f"This party is {reservation.arrival} and cannot become {arrival}."


def reread(reservation: Reservation) -> None:
    """Read what the row says now; its venue stays loaded."""
    reservation.refresh_from_db(fields=["status", "arrival", "tables", "starts_at", "version", "updated_at"])
