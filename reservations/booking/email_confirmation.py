"""Online bookings that the guest has to confirm by a mailed link. Unconfirmed ones are cancelled."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import EventType, on_clock_of
from reservations.booking import commands, table_assignment, terms, waitlist
from reservations.models import InvalidTransition, Reservation
from reservations.notifications import record_change

CONFIRMATION_PERIOD = timedelta(minutes=15)
CANCELLED, CONFIRMED, Reason = Reservation.Status.CANCELLED, Reservation.Status.CONFIRMED, Reservation.PendingReason


class ConfirmationExpired(InvalidTransition):
    """The guest confirmed after the deadline."""


def confirm_email(reservation: Reservation, *, now: datetime) -> None:
    """Confirm the booking if it has tables; otherwise it becomes an ordinary pending one. Idempotent.

    Raises ConfirmationExpired, InvalidTransition if it is cancelled.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if reservation.status == CANCELLED:
            raise InvalidTransition(_("This booking was cancelled. Please book again."), param="status")
        if reservation.confirm_by is None:
            return
        if reservation.confirm_by <= now or reservation.starts_at <= now:
            raise ConfirmationExpired(_("The table was released. Please book again."), param="status")
        if reservation.seatings.exists():
            commands.set_status(reservation, CONFIRMED, now=now, actor="guest")
            return
        if not table_assignment.has_tables(reservation.venue_id):
            reason = Reason.MANUAL
        elif reservation.party_size > reservation.venue.auto_confirm_max_party:
            reason = Reason.LARGE_PARTY
        elif (agreed := terms.find_agreed(reservation)) and agreed.deposit_usdc is not None:
            reason = Reason.MANUAL
        else:
            reason = Reason.WAITLIST
        reservation.pending_reason, reservation.confirm_by = reason, None
        reservation.save_version("pending_reason", "confirm_by", now=now)
        mail = commands.MAIL_BY_PENDING_REASON[reason]
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=mail, actor="guest", now=now)
        if reason == Reason.WAITLIST:
            waitlist.schedule_offers(reservation.venue)


def cancel_unconfirmed(*, now: datetime, venue: UUID | None = None) -> int:
    """Cancel the bookings whose deadline has passed, and return how many. Two queries if there are none.

    Those of this venue, or of all without a clock of their own.

    A deadline that is further away than any was set while the clock was ahead: the guest gets the usual time from now.
    """
    unconfirmed = Reservation.objects.filter(on_clock_of(venue), confirm_by__isnull=False)
    unconfirmed.filter(confirm_by__gt=now + 2 * CONFIRMATION_PERIOD).update(confirm_by=now + CONFIRMATION_PERIOD)
    overdue = unconfirmed.filter(confirm_by__lte=now).order_by("confirm_by", "id").select_related("venue")
    return sum(cancel_if_unconfirmed(reservation, now=now) for reservation in overdue)


def cancel_if_unconfirmed(reservation: Reservation, *, now: datetime) -> bool:
    """Cancel the booking unless it was confirmed or changed concurrently, and return whether it was cancelled.

    No mail is sent: the address may belong to a person who did not book.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if reservation.confirm_by is None or reservation.confirm_by > now:
            return False
        table_assignment.release(reservation)
        reservation.move_to(CANCELLED, now=now)
        record_change(reservation, EventType.RESERVATION_CANCELLED, mail=None, actor="system", now=now)
        waitlist.schedule_offers(reservation.venue)
    return True
