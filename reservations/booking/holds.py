"""Holds: tables are kept for some minutes, until they are reserved or the hold ends.

The tables of a hold are seatings like those of a reservation, under the same constraint. It ends at `expires_at`:
from then on it is not counted, and the next one who needs a table deletes it (table_assignment). So it ends to the
second, whatever has been killed.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from uuid import UUID

from django.db import transaction

from accounts.models import Venue, on_clock_of
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest, NotFound
from framework.public_ids import decode
from reservations.booking import table_assignment, waitlist
from reservations.booking.availability import SlotUnavailable, slot_unavailable_error
from reservations.booking.times import find_slot, set_start
from reservations.models import Area, Hold, Reservation, Seating
from reservations.models.holds import DEFAULT_MINUTES, MAX_MINUTES, PREFIX

# Of one owner at one venue at a time.
MAX_PER_OWNER = 20

OWNER_LOCK = AdvisoryLock("hold owner")


class HoldEnded(ApiError):
    """The hold has expired, was released or used, or never existed: ended holds are deleted."""

    code = ErrorCode.HOLD_ENDED

    def __init__(self) -> None:
        super().__init__("There is no such hold, or it has ended.", param="hold_id")


class TooManyHolds(ApiError):
    """The owner has the maximum number of holds."""

    code = ErrorCode.TOO_MANY_HOLDS


def create(
    venue: Venue,
    *,
    owner: str,
    day: date,
    at: time,
    party_size: int,
    area: Area | None = None,
    minutes: int = DEFAULT_MINUTES,
    max_per_owner: int = MAX_PER_OWNER,
    now: datetime,
) -> Hold:
    """Hold the best free tables for 1 to 15 minutes, at the longest until the party would come.

    Raises what commands.book raises about times, TooManyHolds, and SlotUnavailable also where the staff assign the
    tables: without tables in the system, and for large parties. Then nothing is stored. About ten statements.
    """
    hold = Hold(venue=venue, owner=owner, date=day, time=at, party_size=party_size, area=area, created_at=now)
    set_start(hold, now=now)
    # The size before the hours: at no other time could a large party hold a table.
    slot = None if party_size > venue.auto_confirm_max_party else find_slot(hold, now=now)
    if slot is None:
        raise SlotUnavailable(
            "The staff of this restaurant assign the tables of such parties. Send a reservation without a hold.",
            param="party_size",
            extra={"alternatives": []},
        )
    hold.ends_at = slot.ends_at(party_size)
    hold.expires_at = min(now + timedelta(minutes=minutes), hold.starts_at)
    if venue.when_full == Venue.WhenFull.WAITLIST:
        waitlist.process_waitlist(venue, now=now, day=day)
    with transaction.atomic():
        OWNER_LOCK.acquire(f"{venue.pk} {owner}")
        if Hold.objects.active(now=now).filter(venue=venue, owner=owner).count() >= max_per_owner:
            raise TooManyHolds(f"You hold {max_per_owner} tables here, the maximum. Reserve or release one first.")
        if table_assignment.assign_best(hold, pacing_covers=slot.period.pacing_covers, now=now) is not None:
            hold.save(force_insert=True)
            return hold
    raise slot_unavailable_error(hold, now=now)


def find(venue: Venue, public_id: str, *, now: datetime) -> Hold:
    """Return a hold of the venue. Raises NotFound if there is none, or it has ended. One query."""
    key = decode(PREFIX, public_id)
    holds = Hold.objects.active(now=now).select_related("area")
    hold = holds.filter(pk=key, venue=venue).first() if key else None
    if hold is None:
        raise NotFound("There is no such hold, or it has ended.")
    hold.venue = venue
    return hold


def release(hold: Hold) -> None:
    """End the hold, and offer its tables to the waiting list. Raises NotFound if it ended concurrently."""
    with transaction.atomic():
        _, deleted = Hold.objects.filter(pk=hold.pk).delete()
        if not deleted.get(Hold._meta.label):
            raise NotFound("There is no such hold, or it has ended.")
        waitlist.schedule_offers(hold.venue)


def take_over(public_id: str, reservation: Reservation, *, now: datetime) -> None:
    """Give the tables of a hold to a reservation that this transaction stores, and delete the hold.

    A hold belongs to its venue, as reservations do: each key of the venue may use it, and the owner only limits their
    number. A
    reservation without an area gets that of the hold. Raises HoldEnded, and InvalidRequest if the hold is for another
    time, party or area. Four statements.
    """
    key = decode(PREFIX, public_id)
    holds = Hold.objects.select_for_update().filter(venue=reservation.venue_id)
    hold = holds.filter(pk=key).first() if key else None
    if hold is None or hold.expires_at <= now:
        raise HoldEnded
    wanted = (reservation.date, reservation.time, reservation.party_size)
    if wanted != (hold.date, hold.time, hold.party_size):
        raise InvalidRequest(f"The hold is for {hold}: send its date, time and party size.", param="hold_id")
    if reservation.area_id not in (None, hold.area_id):
        held = f"the area {hold.area.name}: send this area or none" if hold.area else "no area: send none"
        raise InvalidRequest(f"The hold is for {held}.", param="hold_id")
    reservation.starts_at, reservation.ends_at = hold.starts_at, hold.ends_at
    reservation.tables, reservation.area_id = hold.tables, hold.area_id
    Seating.objects.filter(hold=hold).update(hold=None, reservation=reservation.pk)
    hold.delete()


def list_active(venue: Venue, *, now: datetime) -> Sequence[Hold]:
    """Return the holds of a venue, the soonest party first. One query."""
    holds = Hold.objects.active(now=now).filter(venue=venue).select_related("area")
    return list(holds.order_by("starts_at", "id"))


def delete_expired(*, now: datetime, venue: UUID | None = None) -> int:
    """Delete expired holds, offer their tables to waiting lists, and return of how many venues there were any.

    Those of this venue, or of all without a clock of their own.

    A hold that lasts longer than any was made while the clock was ahead, and gets the longest time from now on.
    """
    longest = timedelta(minutes=MAX_MINUTES)
    holds = Hold.objects.filter(on_clock_of(venue))
    holds.filter(expires_at__gt=now + 2 * longest).update(created_at=now, expires_at=now + longest)
    venues = holds.filter(expires_at__lte=now).order_by().values_list("venue", flat=True).distinct()
    return sum(delete_expired_of(key, now=now) for key in venues)


def delete_expired_of(venue: UUID, *, now: datetime) -> bool:
    """Delete the expired holds of a venue; return whether there were any."""
    with transaction.atomic():
        is_deleted = table_assignment.delete_expired_holds(venue, now=now)
        if is_deleted:
            waitlist.schedule_offers(Venue(pk=venue))
    return is_deleted
