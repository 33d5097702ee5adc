"""The waiting list: a free table is offered to one party at a time, and held for it until the offer expires.

An offer is one transaction: the table, the expiry on the row and the email.
"""

from datetime import date, datetime, timedelta
from functools import partial
from uuid import UUID

from celery import current_app
from django.db import OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from psycopg.errors import DeadlockDetected

from accounts.models import EventType, Venue
from framework.tasks.dispatch import enqueue
from reservations.booking import table_assignment
from reservations.booking.availability import DaySlots, SlotUnavailable
from reservations.models import GuestMail, InvalidTransition, Reservation
from reservations.notifications import NO_DELAY, POLL_INTERVAL_S, record_change

OFFER_DURATION = timedelta(minutes=30)
# After so many expired offers the staff call the guest.
MAX_OFFERS = 3
# Mail that is not sent by then may never arrive.
MAX_MAIL_DELAY = timedelta(minutes=5)
IS_WAITLISTED = Q(status=Reservation.Status.PENDING, pending_reason=Reservation.PendingReason.WAITLIST)


class TableOfferExpired(InvalidTransition):
    """The table is not held for this party any more."""


class NotOnWaitlist(InvalidTransition):
    """The reservation is not on the waiting list, or already has an offer."""


class NoTableFree(SlotUnavailable):
    """No table is free for this party."""


def schedule_offers(venue: Venue) -> None:
    """Enqueue the venue's waiting list after the commit. Call it in a transaction that may free a table."""
    transaction.on_commit(partial(enqueue_table_offers, venue.pk))


def enqueue_table_offers(venue: UUID) -> None:
    """Enqueue the task that processes the venue's waiting list, by name: its module imports this one."""
    enqueue(current_app.signature("reservations.tasks.offer_tables"), expires_s=POLL_INTERVAL_S, venue=str(venue))


def venues_to_process(*, now: datetime) -> QuerySet[Reservation, UUID]:
    """Return the keys of venues with a waiting party for a future time, or an offer. One query by a partial index."""
    waitlisted = Reservation.objects.filter(IS_WAITLISTED, Q(starts_at__gt=now) | Q(offered_until__isnull=False))
    return waitlisted.order_by().values_list("venue", flat=True).distinct()


def process_waitlist(venue: Venue, *, now: datetime, day: date | None = None) -> int:
    """End expired offers, then offer the free tables of this day, or of all days; return the number of offers.

    One query if the waiting list is empty.
    """
    waitlisted = Reservation.objects.filter(IS_WAITLISTED, venue=venue)
    if day is not None:
        waitlisted = waitlisted.filter(date=day)
    if not waitlisted.exists():
        return 0
    expire_offers(venue, now=now)
    return offer_tables(venue, now=now, day=day)


def expire_offers(venue: Venue, *, now: datetime) -> int:
    """End the venue's expired offers, and return their number. Two queries if there are none.

    An offer that lasts longer than any was made while the clock was ahead, and gets the usual time from now on. Clocks
    of servers that differ a little change no offer.
    """
    too_long = Reservation.objects.filter(IS_WAITLISTED, venue=venue, offered_until__gt=now + 2 * OFFER_DURATION)
    too_long.update(offered_until=now + OFFER_DURATION)
    is_expired = Q(offered_until__lte=now) | Q(offered_until__isnull=False, starts_at__lte=now)
    expired = Reservation.objects.filter(IS_WAITLISTED, is_expired, venue=venue).select_related("venue")
    return sum(expire_offer(reservation, now=now) for reservation in expired.order_by("offered_until"))


def expire_offer(reservation: Reservation, *, now: datetime) -> bool:
    """End an expired offer, unless the guest answered concurrently; return whether it was ended.

    An offer whose email was not sent does not count against the guest. If that email is still queued it becomes a
    waiting list email, because the offer may have replaced the one that the guest had not received yet.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if reservation.offered_until is None or has_offer(reservation, now=now):
            return False
        offers = reservation.guest_mails.filter(kind=GuestMail.Kind.OFFERED)
        mail = offers.select_for_update().order_by("-pk").first()
        if mail and mail.state != GuestMail.State.SENT:
            reservation.offer_count -= 1
            if mail.state != GuestMail.State.FAILED:
                GuestMail.objects.filter(pk=mail.pk).update(
                    kind=GuestMail.Kind.WAITLISTED, state=GuestMail.State.PENDING
                )
        table_assignment.release(reservation)
        reservation.offered_until = None
        reservation.save_version("offered_until", "offer_count", now=now)
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=None, actor="system", now=now)
    return True


def has_undelivered_mail(*, now: datetime) -> Exists:
    """Condition on reservations: an email to the guest has failed or is delayed, and none was sent after it."""
    states = GuestMail.State
    is_delayed = Q(Q(created_at__lte=now - MAX_MAIL_DELAY) | ~Q(last_error=""), state=states.PENDING)
    sent_later = GuestMail.objects.filter(
        reservation=OuterRef("reservation"), pk__gt=OuterRef("pk"), state=states.SENT
    )
    undelivered = GuestMail.objects.filter(Q(state=states.FAILED) | is_delayed, ~Exists(sent_later))
    return Exists(undelivered.filter(reservation=OuterRef("pk")))


def offer_tables(venue: Venue, *, now: datetime, day: date | None = None) -> int:
    """Offer the free tables of this day, or of all days, in the order of the list; return the number of offers.

    Parties with fewer expired offers come first, then the earlier bookings. Parties without an email address, or whose
    mail is not delivered, are called by the staff. One query for an empty list; about ten for each requested time and
    party size.
    """
    if not venue.mails_guests:
        return 0
    parties = Reservation.objects.filter(
        IS_WAITLISTED,
        ~has_undelivered_mail(now=now),
        venue=venue,
        starts_at__gt=now,
        offered_until__isnull=True,
        customer_email__isnull=False,
        offer_count__lt=MAX_OFFERS,
    ).order_by("offer_count", "created_at", "id")
    if day is not None:
        parties = parties.filter(date=day)
    days: dict[date, DaySlots] = {}
    # If there is no room for a party, there is none for the next one of its time, size and area.
    without_room: set[tuple[datetime, int, UUID | None]] = set()
    offered = 0
    for reservation in parties.select_related("venue"):
        request = (reservation.starts_at, reservation.party_size, reservation.area_id)
        if request in without_room:
            continue
        if reservation.date not in days:
            days[reservation.date] = DaySlots.load(venue, reservation.date)
        slot = days[reservation.date].find(reservation.time)
        if slot is None:
            # The service hours have changed since the booking: the staff decide.
            without_room.add(request)
            continue
        try:
            offer_table(reservation, pacing_covers=slot.period.pacing_covers, actor="system", now=now)
        except NoTableFree:
            without_room.add(request)
        except NotOnWaitlist:
            # A concurrent transaction cancelled, confirmed or offered.
            continue
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
            # Staff concurrently change it, and wait for a table that the outer transaction has locked.
            continue
        else:
            offered += 1
    return offered


def offer_table(reservation: Reservation, *, pacing_covers: int | None = None, actor: str, now: datetime) -> datetime:
    """Hold the best free table for this party and email the guest; return when the offer expires.

    Raises NotOnWaitlist, NoTableFree; then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if not is_waitlisted(reservation) or reservation.starts_at <= now:
            raise NotOnWaitlist(_("This party is not on the waiting list."), param="status")
        if reservation.offered_until is not None:
            raise NotOnWaitlist(_("This party already has an offer."), param="status")
        if table_assignment.assign_best(reservation, pacing_covers=pacing_covers, store=True, now=now) is None:
            raise NoTableFree(_("No table is free for this party."), param="time")
        reservation.offer_count += 1
        until = reservation.offered_until = min(now + OFFER_DURATION, reservation.starts_at)
        reservation.save_version("offered_until", "offer_count", now=now)
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=GuestMail.Kind.OFFERED, actor=actor, now=now)
    return until


def accept_offer(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Confirm the party at the offered table. Idempotent. Raises TableOfferExpired, InvalidTransition if cancelled."""
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if reservation.status == Reservation.Status.PENDING:
            require_offer(reservation, now=now)
        if reservation.move_to(Reservation.Status.CONFIRMED, now=now):
            event, mail = EventType.RESERVATION_CONFIRMED, GuestMail.Kind.CONFIRMED
            record_change(reservation, event, mail=mail, actor=actor, now=now)


def decline_offer(
    reservation: Reservation, *, mail_after: timedelta | None = NO_DELAY, actor: str, now: datetime
) -> None:
    """Cancel the reservation, release its table. Idempotent.

    Raises TableOfferExpired, InvalidTransition if confirmed.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if reservation.status == Reservation.Status.CANCELLED:
            return
        if reservation.status == Reservation.Status.CONFIRMED:
            raise InvalidTransition(_("This reservation is confirmed; cancel it instead."), param="status")
        require_offer(reservation, now=now)
        table_assignment.release(reservation)
        reservation.move_to(Reservation.Status.CANCELLED, now=now)
        event, mail = EventType.RESERVATION_CANCELLED, GuestMail.Kind.CANCELLED
        record_change(reservation, event, mail=mail, mail_after=mail_after, actor=actor, now=now)
        schedule_offers(reservation.venue)


def is_waitlisted(reservation: Reservation) -> bool:
    return reservation.pending_reason == Reservation.PendingReason.WAITLIST


def can_mail_offers(reservation: Reservation) -> bool:
    """Return whether tables are offered by email; otherwise the staff call the guest."""
    return bool(reservation.venue.mails_guests and reservation.customer_email and reservation.offer_count < MAX_OFFERS)


def offer_expires_at(reservation: Reservation) -> datetime | None:
    """Return when its offer expires: at the latest at its start, which staff may have moved; None without an offer."""
    return reservation.offered_until and min(reservation.offered_until, reservation.starts_at)


def has_offer(reservation: Reservation, *, now: datetime) -> bool:
    """Return whether a table is held for it now."""
    until = offer_expires_at(reservation)
    return until is not None and until > now


def require_offer(reservation: Reservation, *, now: datetime) -> None:
    """Raise TableOfferExpired unless a table is held for it now."""
    if has_offer(reservation, now=now):
        return
    if is_waitlisted(reservation):
        message = _("This table is no longer held for you. You are still on the waiting list.")
    else:
        message = _("This offer has ended. The restaurant is processing your reservation and will confirm it.")
    raise TableOfferExpired(message, param="status")
