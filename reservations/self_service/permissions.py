"""What guests may do with their reservation."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, auto
from typing import Any

from django.db import transaction

from reservations.booking import commands, table_assignment, waitlist
from reservations.models import InvalidTransition, Reservation

Status = Reservation.Status


class GuestStatus(StrEnum):
    """The status of a reservation as guests see it."""

    PAST = auto()
    CANCELLED = auto()
    STARTED = auto()
    CONFIRMED = auto()
    OFFERED = auto()
    UNCONFIRMED = auto()
    WAITING = auto()
    REQUESTED = auto()


CANCELLABLE = set(GuestStatus) - {GuestStatus.PAST, GuestStatus.CANCELLED, GuestStatus.STARTED}


class TooLateToCancel(InvalidTransition):
    """The reservation has started."""


class TooLateToChange(InvalidTransition):
    """The reservation has started, or is cancelled."""


def guest_status(reservation: Reservation, *, now: datetime) -> GuestStatus:
    """Return the current status for the guest."""
    if reservation.ends_at <= now:
        return GuestStatus.PAST
    if reservation.status == Status.CANCELLED:
        return GuestStatus.CANCELLED
    if reservation.starts_at <= now or reservation.arrival:
        return GuestStatus.STARTED
    if reservation.status == Status.CONFIRMED:
        return GuestStatus.CONFIRMED
    if reservation.confirm_by is not None:
        # After the deadline it is cancelled within a minute.
        return GuestStatus.UNCONFIRMED if reservation.confirm_by > now else GuestStatus.CANCELLED
    if waitlist.has_offer(reservation, now=now):
        return GuestStatus.OFFERED
    return GuestStatus.WAITING if waitlist.is_waitlisted(reservation) else GuestStatus.REQUESTED


def cancel(reservation: Reservation, *, now: datetime) -> None:
    """Cancel before the reservation starts. Idempotent. Raises TooLateToCancel."""
    with transaction.atomic():
        # Staff may record the arrival concurrently.
        table_assignment.lock_reservation(reservation)
        if guest_status(reservation, now=now) in (GuestStatus.PAST, GuestStatus.STARTED):
            raise TooLateToCancel("It is too late to cancel online. Please call the restaurant.", param="status")
        commands.set_status(reservation, Status.CANCELLED, now=now, actor="guest")


def change(reservation: Reservation, changes: Mapping[str, Any], *, now: datetime) -> None:
    """Change the date, the time, the party size or the requests before the reservation starts, by the booking rule.

    The arguments are those of commands.change. Raises TooLateToChange and what that raises.
    """
    if guest_status(reservation, now=now) not in CANCELLABLE:
        raise TooLateToChange("It is too late to change this online. Please call the restaurant.", param="status")
    commands.change(reservation, changes, now=now, actor="guest")
