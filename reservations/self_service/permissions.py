"""What guests may do with their reservation."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, auto
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reservations.booking import commands, table_assignment, terms, waitlist
from reservations.booking.times import set_start
from reservations.models import InvalidTransition, Reservation
from reservations.self_service import registry

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
TOO_LATE_TO_CHANGE = gettext_lazy("It is too late to change this online. Please call the restaurant.")
# An offered table and an unconfirmed booking are accepted, declined or confirmed first.
CHANGEABLE_ONLINE = {GuestStatus.CONFIRMED, GuestStatus.REQUESTED, GuestStatus.WAITING}


class TooLateToCancel(InvalidTransition):
    """The reservation has started."""


class TooLateToChange(InvalidTransition):
    """The reservation has started, or is cancelled."""


class NotMovable(InvalidTransition):
    """The guest cannot change the time and the party of this reservation."""


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
            raise TooLateToCancel(_("It is too late to cancel online. Please call the restaurant."), param="status")
        commands.set_status(reservation, Status.CANCELLED, now=now, actor="guest")


def change(reservation: Reservation, changes: Mapping[str, Any], *, now: datetime) -> None:
    """Change date, time, party size, area or requests before the reservation starts, by the booking rule.

    The arguments are those of commands.change. Raises TooLateToChange, NotMovable, DepositRequired for a time with a
    higher deposit than was paid, and what commands.change raises.
    """
    if guest_status(reservation, now=now) not in CANCELLABLE:
        raise TooLateToChange(str(TOO_LATE_TO_CHANGE), param="status")
    is_moved = bool(changes.keys() - {"guest"}) or "area" in changes.get("guest", {})
    if is_moved and (reason := reason_not_to_move(reservation)):
        raise NotMovable(reason, param="time")
    if is_moved:
        require_deposit(reservation, changes, now=now)
    commands.change(reservation, changes, now=now, actor="guest")


def require_deposit(reservation: Reservation, changes: Mapping[str, Any], *, now: datetime) -> None:
    """Raise DepositRequired if the new time or party asks for a higher deposit than was paid. At most two queries.

    Also what commands.change raises about times.
    """
    moved = Reservation(
        pk=reservation.pk,
        venue=reservation.venue,
        date=changes.get("day", reservation.date),
        time=changes.get("at", reservation.time),
        party_size=changes.get("party_size", reservation.party_size),
    )
    wanted = (moved.date, moved.time, moved.party_size)
    if wanted != (reservation.date, reservation.time, reservation.party_size):
        set_start(moved, now=now)
        terms.require_no_higher_deposit(moved, now=now)


def reason_not_to_move(reservation: Reservation) -> str:
    """Return why the guest cannot change date, time, party size and area; empty if they can. At most two queries."""
    if registry.is_fixed(reservation):
        return _(
            "This table is booked at an offer, so its time and party stay as they are. To change them, cancel this"
            " reservation and book another table."
        )
    if reservation.status == Status.CONFIRMED and not table_assignment.has_tables(reservation.venue_id):
        # The system has no tables to check a new time against, and nobody has agreed to it.
        return _("This restaurant confirms each reservation itself. To change the time or the party, please call it.")
    return ""
