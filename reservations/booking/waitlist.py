"""The waiting list: a table that has become free is offered to one party after the other, and held for it for a while.

An offer is one transaction: the table is taken, the row says until when, the mail is written. A worker that dies has
offered nothing.
"""

from datetime import date, datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from psycopg.errors import DeadlockDetected

from accounts.models import EventType, Venue
from framework.errors import ApiError, ErrorCode
from reservations.booking import table_assignment
from reservations.booking.availability import Hours
from reservations.dispatch import enqueue_table_offers
from reservations.models import IllegalMove, Notice, Reservation
from reservations.notifications import tell

HELD_FOR = timedelta(minutes=30)
# Who has let so many offers lapse does not read our mail; the staff call them.
MOST_OFFERS = 3
# A mail that has waited for so long, or was tried in vain, may never arrive.
PROMPT = timedelta(minutes=5)
LAPSED = "This table is no longer held for you. You are still on the waiting list."
WITH_STAFF = "This offer has ended. The restaurant is processing your reservation and will confirm it."
WAITING = Q(status=Reservation.Status.PENDING, pending_reason=Reservation.PendingReason.WAITLIST)


class OfferLapsed(ApiError):
    """The table is not held for this party any more."""

    code = ErrorCode.INVALID_TRANSITION


class NotWaiting(ApiError):
    """It is not on the waiting list, or has an offer already."""

    code = ErrorCode.INVALID_TRANSITION


class NoRoom(ApiError):
    """No table is free for this party."""

    code = ErrorCode.SLOT_UNAVAILABLE


def look_again(venue: Venue) -> None:
    """Have a worker look whether the venue has a table for those who wait.

    Call it inside the transaction in which a table may have become free; the task is enqueued after the commit.
    """
    transaction.on_commit(partial(enqueue_table_offers, venue.pk))


def venues(*, now: datetime) -> QuerySet[Reservation, UUID]:
    """The keys of the venues where somebody waits for a moment still ahead, or holds an offer.

    One query, by the partial index of those who wait.
    """
    waiting = Reservation.objects.filter(WAITING, Q(starts_at__gt=now) | Q(offered_until__isnull=False))
    return waiting.order_by().values_list("venue", flat=True).distinct()


def look(venue: Venue, *, now: datetime, day: date | None = None) -> int:
    """Take back what was held in vain, then offer what is free, of this day or all; say to how many parties.

    One query where nobody waits.
    """
    days = Q() if day is None else Q(date=day)
    if not Reservation.objects.filter(WAITING, days, venue=venue).exists():
        return 0
    lapse(venue, now=now)
    return offer_tables(venue, now=now, day=day)


def lapse(venue: Venue, *, now: datetime) -> int:
    """Take back the tables that were held in vain, and say how many parties had not answered. One query for none."""
    is_over = Q(offered_until__lte=now) | Q(offered_until__isnull=False, starts_at__lte=now)
    over = Reservation.objects.filter(WAITING, is_over, venue=venue).select_related("venue")
    return sum(take_back(reservation, now=now) for reservation in over.order_by("offered_until"))


def take_back(reservation: Reservation, *, now: datetime) -> bool:
    """End one offer whose time is over, unless the guest has been quicker; say whether it was ended.

    A party that its mail has not reached has let nothing lapse.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if reservation.offered_until is None or is_held(reservation, now=now):
            return False
        if is_mail_left_behind(reservation):
            reservation.offers -= 1
        table_assignment.free(reservation)
        store(reservation, offered_until=None, now=now)
        tell(reservation, EventType.RESERVATION_UPDATED, notice=None, actor="system", now=now)
    return True


def is_mail_left_behind(reservation: Reservation) -> bool:
    """Whether the mail of the last offer has not left; if it still can, it says from now on that they are on the list.

    That is what the guest was to know before the offer, in a mail that the offer may have replaced.
    """
    mail = reservation.notices.filter(kind=Notice.Kind.OFFERED).select_for_update().order_by("-pk").first()
    if mail is None or mail.state == Notice.State.SENT:
        return False
    if mail.state != Notice.State.FAILED:
        Notice.objects.filter(pk=mail.pk).update(kind=Notice.Kind.WAITLISTED, state=Notice.State.PENDING)
    return True


def unreached(*, now: datetime) -> Exists:
    """Of reservations: whether mail to the guest has failed, or waits for long, and none has been sent since."""
    failing = Q(state=Notice.State.FAILED) | Q(
        Q(created_at__lte=now - PROMPT) | ~Q(last_error=""), state=Notice.State.PENDING
    )
    since = Notice.objects.filter(reservation=OuterRef("reservation"), pk__gt=OuterRef("pk"), state=Notice.State.SENT)
    return Exists(Notice.objects.filter(failing, ~Exists(since), reservation=OuterRef("pk")))


def offer_tables(venue: Venue, *, now: datetime, day: date | None = None) -> int:
    """Offer what is free to those who wait, for this day or all, in the order of their turn; say to how many.

    First come, first served, and behind them who has let an offer lapse. Who left no mail address, or whom mail does
    not reach, is called by the staff. One query for a list on which nobody waits; some ten for each moment and size of
    party that is waited for.
    """
    if not venue.mails_guests:
        return 0
    turns = Reservation.objects.filter(
        WAITING,
        ~unreached(now=now),
        Q() if day is None else Q(date=day),
        venue=venue,
        starts_at__gt=now,
        offered_until__isnull=True,
        customer_email__isnull=False,
        offers__lt=MOST_OFFERS,
    ).order_by("offers", "created_at", "id")
    hours: dict[date, Hours] = {}
    # Where there is no room for a party there is none for the next one of its size.
    in_vain: set[tuple[datetime, int]] = set()
    offered = 0
    for reservation in turns.select_related("venue"):
        wish = (reservation.starts_at, reservation.party_size)
        if wish in in_vain:
            continue
        if reservation.date not in hours:
            hours[reservation.date] = Hours.of(venue, reservation.date)
        slot = hours[reservation.date].slot(reservation.time)
        if slot is None:
            # The venue has closed, or changed its hours, since then: the staff decide.
            in_vain.add(wish)
            continue
        try:
            offer(reservation, pacing_covers=slot.period.pacing_covers, actor="system", now=now)
        except NoRoom:
            in_vain.add(wish)
        except NotWaiting:
            # It was cancelled, or confirmed, or another worker was quicker.
            continue
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
            # Staff move it just now onto a table that the transaction around us holds; they have it looked at again.
            continue
        else:
            offered += 1
    return offered


def offer(reservation: Reservation, *, pacing_covers: int | None = None, actor: str, now: datetime) -> datetime:
    """Hold the best free table for this party and write to it; say until when.

    Raises NotWaiting, NoRoom; then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if not is_waiting(reservation) or reservation.starts_at <= now:
            raise NotWaiting("This party is not on the waiting list.", param="status")
        if reservation.offered_until is not None:
            raise NotWaiting("This party already has an offer.", param="status")
        names = table_assignment.seat(reservation, pacing_covers=pacing_covers)
        if names is None:
            raise NoRoom("No table is free for this party.", param="time")
        reservation.offers += 1
        until = min(now + HELD_FOR, reservation.starts_at)
        store(reservation, offered_until=until, now=now)
        tell(reservation, EventType.RESERVATION_UPDATED, notice=Notice.Kind.OFFERED, actor=actor, now=now)
    return until


def accept(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Confirm the party at the table that is held for it. To accept twice changes nothing.

    Raises OfferLapsed when it is not held any more, IllegalMove when the reservation is cancelled.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if reservation.status == Reservation.Status.PENDING and not is_held(reservation, now=now):
            raise lapsed(reservation)
        if reservation.move_to(Reservation.Status.CONFIRMED, now=now):
            event, notice = EventType.RESERVATION_CONFIRMED, Notice.Kind.CONFIRMED
            tell(reservation, event, notice=notice, actor=actor, now=now)


def decline(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Give the table to the next party, and leave the waiting list: the reservation is cancelled.

    Who does not want the table that was asked for does not come. To decline twice changes nothing. Raises OfferLapsed,
    and IllegalMove when the reservation is confirmed: that is cancelled by booking.move.
    """
    with transaction.atomic():
        table_assignment.lock(reservation)
        if reservation.status == Reservation.Status.CANCELLED:
            return
        if reservation.status == Reservation.Status.CONFIRMED:
            raise IllegalMove("This reservation is confirmed; cancel it instead.", param="status")
        if not is_held(reservation, now=now):
            raise lapsed(reservation)
        table_assignment.free(reservation)
        reservation.move_to(Reservation.Status.CANCELLED, now=now)
        event, notice = EventType.RESERVATION_CANCELLED, Notice.Kind.CANCELLED
        tell(reservation, event, notice=notice, actor=actor, now=now)
        look_again(reservation.venue)


def is_waiting(reservation: Reservation) -> bool:
    """Whether it is on the waiting list."""
    return reservation.pending_reason == Reservation.PendingReason.WAITLIST


def is_mailed_offers(reservation: Reservation) -> bool:
    """Whether it is offered tables by mail, so long as mail reaches it (`unreached`); the staff call the others."""
    return bool(reservation.venue.mails_guests and reservation.customer_email and reservation.offers < MOST_OFFERS)


def held_until(reservation: Reservation) -> datetime | None:
    """Until when a table is held for it, at the latest until it comes; None where none is."""
    # Staff may have moved it to an earlier time since.
    return reservation.offered_until and min(reservation.offered_until, reservation.starts_at)


def is_held(reservation: Reservation, *, now: datetime) -> bool:
    """Whether a table is held for it at this moment."""
    until = held_until(reservation)
    return until is not None and until > now


def lapsed(reservation: Reservation) -> OfferLapsed:
    """What a guest is told who answers an offer that is over."""
    return OfferLapsed(LAPSED if is_waiting(reservation) else WITH_STAFF, param="status")


def store(reservation: Reservation, *, offered_until: datetime | None, now: datetime) -> None:
    """Write down an offer, or that there is none, on the row that this transaction has locked."""
    reservation.offered_until = offered_until
    reservation.version += 1
    reservation.updated_at = now
    reservation.save(update_fields=["offered_until", "offers", "version", "updated_at"])
