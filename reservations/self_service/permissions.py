"""What a guest may do with the own reservation, and when."""

from datetime import datetime
from enum import StrEnum, auto

from django.db import transaction

from framework.errors import ApiError, ErrorCode
from reservations.booking import commands, table_assignment, waitlist
from reservations.models import Reservation

Status = Reservation.Status


class Standing(StrEnum):
    """Where a reservation stands for its guest."""

    OVER = auto()
    CANCELLED = auto()
    BEGUN = auto()
    CONFIRMED = auto()
    OFFERED = auto()
    UNPROVEN = auto()
    WAITING = auto()
    REQUESTED = auto()


CANCELLABLE = {Standing.CONFIRMED, Standing.OFFERED, Standing.UNPROVEN, Standing.WAITING, Standing.REQUESTED}


class TooLate(ApiError):
    """The guests are expected at this moment, or their time is over."""

    code = ErrorCode.INVALID_TRANSITION


def standing(reservation: Reservation, *, now: datetime) -> Standing:
    """Where it stands at this moment."""
    if reservation.ends_at <= now:
        return Standing.OVER
    if reservation.status == Status.CANCELLED:
        return Standing.CANCELLED
    if reservation.starts_at <= now or reservation.arrival:
        return Standing.BEGUN
    if reservation.status == Status.CONFIRMED:
        return Standing.CONFIRMED
    if reservation.prove_by is not None:
        # Late by a moment is late: the worker that gives it up comes each minute.
        return Standing.UNPROVEN if reservation.prove_by > now else Standing.CANCELLED
    if waitlist.is_held(reservation, now=now):
        return Standing.OFFERED
    return Standing.WAITING if waitlist.is_waiting(reservation) else Standing.REQUESTED


def cancel(reservation: Reservation, *, now: datetime) -> None:
    """Cancel before the reservation begins. To cancel twice changes nothing. Raises TooLate."""
    with transaction.atomic():
        # What stands is what it says once nobody else writes it: the staff may have seen them arrive meanwhile.
        table_assignment.lock(reservation)
        if standing(reservation, now=now) in (Standing.OVER, Standing.BEGUN):
            raise TooLate("It is too late to cancel online. Please call the restaurant.", param="status")
        commands.move(reservation, Status.CANCELLED, now=now, actor="guest")
