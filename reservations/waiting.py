"""The waiting list: a table that has become free is offered to one party after the other, and held for it for a while.

An offer is one transaction: the table is taken, the row says until when, the mail is written. A worker that dies has
offered nothing.
"""

from datetime import date, datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import EventType, Venue
from config.api.refusal import Code, Refusal
from reservations import seating
from reservations.availability import Hours
from reservations.bells import ring_for_tables
from reservations.models import IllegalMove, Notice, Reservation
from reservations.telling import tell

HELD_FOR = timedelta(minutes=30)
# Who has let so many offers lapse does not read our mail; the staff call them.
MOST_OFFERS = 3
LAPSED = "This table is not held for you any more. You are still on the waiting list."
WAITING = Q(status=Reservation.Status.PENDING, pending_reason=Reservation.PendingReason.WAITLIST)


class OfferLapsed(Refusal):
    """The table is not held for this party any more."""

    code = Code.INVALID_TRANSITION


class NotWaiting(Refusal):
    """It is not on the waiting list, or has an offer already."""

    code = Code.INVALID_TRANSITION


class NoRoom(Refusal):
    """No table is free for this party."""

    code = Code.SLOT_UNAVAILABLE


def look_again(venue: Venue) -> None:
    """Have a worker look whether the venue has a table for those who wait.

    Call it inside the transaction in which a table may have become free; the worker is rung after the commit.
    """
    transaction.on_commit(partial(ring_for_tables, venue.pk))


def venues(*, now: datetime) -> QuerySet[Reservation, UUID]:
    """The keys of the venues where somebody waits for a moment still ahead, or holds an offer.

    One query, by the partial index of those who wait.
    """
    waiting = Reservation.objects.filter(WAITING, Q(starts_at__gt=now) | Q(offered_until__isnull=False))
    return waiting.order_by().values_list("venue", flat=True).distinct()


def look(venue: Venue, *, now: datetime) -> int:
    """Take back what was held in vain, then offer what is free; say to how many parties."""
    lapse(venue, now=now)
    return offer_tables(venue, now=now)


def lapse(venue: Venue, *, now: datetime) -> int:
    """Take back the tables that were held in vain, and say how many parties had not answered. One query for none."""
    over = Reservation.objects.filter(WAITING, venue=venue, offered_until__lte=now).select_related("venue")
    return sum(take_back(reservation, now=now) for reservation in over.order_by("offered_until"))


def take_back(reservation: Reservation, *, now: datetime) -> bool:
    """End one offer whose time is over, unless the guest has been quicker; say whether it was ended."""
    with transaction.atomic():
        lock(reservation)
        if reservation.offered_until is None or reservation.offered_until > now:
            return False
        seating.free(reservation)
        store(reservation, offered_until=None, now=now)
        tell(reservation, EventType.RESERVATION_UPDATED, notice=None, actor="system", now=now)
    return True


def offer_tables(venue: Venue, *, now: datetime) -> int:
    """Offer what is free to those who wait, in the order of their turn, and say to how many.

    First come, first served, and behind them who has let an offer lapse. Who left no mail address is called by the
    staff. One query for a list on which nobody waits; some ten for each moment and size of party that is waited for.
    """
    if not venue.mails_guests:
        return 0
    turns = Reservation.objects.filter(
        WAITING,
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
        else:
            offered += 1
    return offered


def offer(reservation: Reservation, *, pacing_covers: int | None = None, actor: str, now: datetime) -> datetime:
    """Hold the best free table for this party and write to it; say until when.

    Raises NotWaiting, NoRoom; then nothing is changed.
    """
    with transaction.atomic():
        lock(reservation)
        if not is_waiting(reservation) or reservation.starts_at <= now:
            raise NotWaiting("This party does not wait for a table.", param="status")
        if reservation.offered_until is not None:
            raise NotWaiting("This party has an offer already.", param="status")
        names = seating.seat(reservation, pacing_covers=pacing_covers)
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
        lock(reservation)
        if reservation.status == Reservation.Status.PENDING and not is_held(reservation, now=now):
            raise OfferLapsed(LAPSED, param="status")
        if reservation.move_to(Reservation.Status.CONFIRMED, now=now):
            event, notice = EventType.RESERVATION_CONFIRMED, Notice.Kind.CONFIRMED
            tell(reservation, event, notice=notice, actor=actor, now=now)


def decline(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Give the table to the next party, and leave the waiting list: the reservation is cancelled.

    Who does not want the table that was asked for does not come. To decline twice changes nothing. Raises OfferLapsed,
    and IllegalMove when the reservation is confirmed: that is cancelled by booking.move.
    """
    with transaction.atomic():
        lock(reservation)
        if reservation.status == Reservation.Status.CANCELLED:
            return
        if reservation.status == Reservation.Status.CONFIRMED:
            raise IllegalMove("This reservation is confirmed; cancel it instead.", param="status")
        if not is_held(reservation, now=now):
            raise OfferLapsed(LAPSED, param="status")
        seating.free(reservation)
        reservation.move_to(Reservation.Status.CANCELLED, now=now)
        event, notice = EventType.RESERVATION_CANCELLED, Notice.Kind.CANCELLED
        tell(reservation, event, notice=notice, actor=actor, now=now)
        look_again(reservation.venue)


def is_waiting(reservation: Reservation) -> bool:
    """Whether it is on the waiting list."""
    return reservation.pending_reason == Reservation.PendingReason.WAITLIST


def is_mailed_offers(reservation: Reservation) -> bool:
    """Whether it is offered tables by mail; the staff call the others."""
    return bool(reservation.venue.mails_guests and reservation.customer_email and reservation.offers < MOST_OFFERS)


def is_held(reservation: Reservation, *, now: datetime) -> bool:
    """Whether a table is held for it at this moment."""
    return reservation.offered_until is not None and reservation.offered_until > now


def lock(reservation: Reservation) -> None:
    """Lock the row and read it anew. Call it first in a transaction.

    Whoever else wants to offer, accept, decline or take back waits for its end, and then reads what has come of it.
    """
    venue = reservation.venue
    reservation.refresh_from_db(from_queryset=Reservation.objects.select_for_update(no_key=True))
    reservation.venue = venue


def store(reservation: Reservation, *, offered_until: datetime | None, now: datetime) -> None:
    """Write down an offer, or that there is none, on the row that this transaction has locked."""
    reservation.offered_until = offered_until
    reservation.version += 1
    reservation.updated_at = now
    reservation.save(update_fields=["offered_until", "offers", "version", "updated_at"])
