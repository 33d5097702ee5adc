"""Bookings that wait until their guest has followed a mailed link: proven they stand, unproven they are given up."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import EventType
from framework.errors import ApiError, ErrorCode
from reservations.booking import commands, table_assignment, waitlist
from reservations.models import IllegalMove, Reservation
from reservations.notifications import tell

HELD_FOR = timedelta(minutes=15)
PROOF, CANCELLED, CONFIRMED = (
    Reservation.PendingReason.PROOF,
    Reservation.Status.CANCELLED,
    Reservation.Status.CONFIRMED,
)


class ProofTooLate(ApiError):
    """The table is not kept for this guest any more."""

    code = ErrorCode.INVALID_TRANSITION


def prove(reservation: Reservation, *, now: datetime) -> None:
    """Let the booking stand: what holds its tables is confirmed, the rest waits as any that the venue takes.

    To prove twice changes nothing. Raises ProofTooLate when its time is over, IllegalMove when it is cancelled.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if reservation.status == CANCELLED:
            raise IllegalMove("This booking was cancelled. Please book again.", param="status")
        if reservation.prove_by is None:
            return
        if reservation.prove_by <= now or reservation.starts_at <= now:
            raise ProofTooLate("The table was released. Please book again.", param="status")
        if reservation.seatings.exists():
            commands.move(reservation, CONFIRMED, now=now, actor="guest")
            return
        reservation.pending_reason = waits_for(reservation)
        reservation.prove_by = None
        reservation.version += 1
        reservation.updated_at = now
        reservation.save(update_fields=["pending_reason", "prove_by", "version", "updated_at"])
        notice = commands.NOTICES[reservation.pending_reason]
        tell(reservation, EventType.RESERVATION_UPDATED, notice=notice, actor="guest", now=now)
        if waitlist.is_waiting(reservation):
            waitlist.look_again(reservation.venue)


def waits_for(reservation: Reservation) -> str:
    """Why it is pending once it is proven, as of a party that was given no table when it was booked."""
    if not table_assignment.has_tables(reservation.venue_id):
        return Reservation.PendingReason.MANUAL
    if reservation.party_size > reservation.venue.auto_confirm_max_party:
        return Reservation.PendingReason.LARGE_PARTY
    return Reservation.PendingReason.WAITLIST


def release(*, now: datetime) -> int:
    """Cancel what nobody has proven in time, and say how many; their tables are free. One query for none."""
    return sum(give_up(reservation, now=now) for reservation in overdue(now=now).select_related("venue"))


def overdue(*, now: datetime) -> QuerySet[Reservation]:
    """Those whose time is over, the oldest first, by the partial index of the unproven."""
    return Reservation.objects.filter(prove_by__lte=now).order_by("prove_by", "id")


def give_up(reservation: Reservation, *, now: datetime) -> bool:
    """Cancel one, unless its guest or the staff have been quicker; say whether it was.

    Nobody is written to: whose address it was may never have heard of it.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if reservation.prove_by is None or reservation.prove_by > now:
            return False
        table_assignment.free(reservation)
        reservation.move_to(CANCELLED, now=now)
        tell(reservation, EventType.RESERVATION_CANCELLED, notice=None, actor="system", now=now)
        waitlist.look_again(reservation.venue)
    return True
