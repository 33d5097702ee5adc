"""Creates and changes reservations. Each command is one transaction: the tables, the row, the event and the mail."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import EventType, Venue
from framework.errors import ApiError, ErrorCode, InvalidRequest
from reservations.booking import holds, table_assignment, terms, waitlist
from reservations.booking.availability import (
    Slot,
    SlotUnavailable,
    has_place_for,
    list_places,
    slot_unavailable_error,
    stay_duration,
)
from reservations.booking.differences import to_former
from reservations.booking.times import find_slot, set_start
from reservations.booking.venue_time import default_turn_time, to_utc
from reservations.models import Area, GuestMail, InvalidTransition, Reservation, generate_code
from reservations.notifications import NO_DELAY, record_change, withdraw_mail
from reservations.service.check_in import DEPARTED, record_arrival

# A code is one of 887 million, so a venue rarely repeats one, and hardly ever five in a row.
MAX_CODE_ATTEMPTS = 5
PENDING, CONFIRMED, CANCELLED = Reservation.Status.PENDING, Reservation.Status.CONFIRMED, Reservation.Status.CANCELLED
Reason = Reservation.PendingReason
# The email about a new reservation, by its pending reason; None if it is confirmed.
MAIL_BY_PENDING_REASON: Mapping[str | None, GuestMail.Kind] = {
    None: GuestMail.Kind.CONFIRMED,
    Reason.MANUAL: GuestMail.Kind.REQUESTED,
    Reason.LARGE_PARTY: GuestMail.Kind.REQUESTED,
    Reason.WAITLIST: GuestMail.Kind.WAITLISTED,
    Reason.EMAIL_CONFIRMATION: GuestMail.Kind.EMAIL_CONFIRMATION,
}
# The columns that `update` may change.
UPDATED_FIELDS = [
    *("customer_name", "customer_email", "customer_phone", "special_requests", "metadata", "area_id"),
    *("date", "time", "starts_at", "ends_at", "party_size", "tables"),
    *("status", "pending_reason", "offered_until", "confirm_by"),
]


class ContactRequired(InvalidRequest):
    """The guest has neither an email address nor a phone number."""


# The columns that a cancellation changes, and its undo restores.
CANCELLATION_FIELDS = ("status", "pending_reason", "offered_until", "confirm_by", "arrival", "tables")


class VersionConflict(ApiError):
    """The reservation has changed since the caller read it."""

    code = ErrorCode.VERSION_CONFLICT


def book(
    venue: Venue,
    *,
    now: datetime,
    actor: str,
    customer_name: str,
    day: date,
    at: time,
    party_size: int,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    special_requests: str = "",
    metadata: Mapping[str, str] | None = None,
    confirm_by: datetime | None = None,
    area: Area | None = None,
    hold_id: str | None = None,
    deposit_usdc: Decimal | None = None,
    requests_deposit_times: bool = False,
    language: str = "",
) -> Reservation:
    """Create a reservation by the booking rule (docs/booking.md): confirmed with its tables, or pending.

    With `confirm_by` it is pending with its tables until the guest follows a mailed link (email_confirmation). With
    `area` it gets tables of that area only. With `hold_id` it gets the tables of that hold. It is made on the
    venue's terms; `deposit_usdc` is the deposit that was paid, and with `requests_deposit_times` a time that asks for
    a deposit is a request to the staff, without a table. `language` is that of the guest's page and mail; empty: the
    venue's.

    Raises NonexistentTime, ReservationInPast, DateTooFarAhead, OutsideServiceHours, SlotUnavailable, HoldEnded, and
    InvalidRequest for a hold of another time, party or area; then nothing is stored. If the venue has tables:
    about twelve statements, and two more with pacing.
    """
    reservation = Reservation(
        venue=venue,
        customer_name=customer_name,
        customer_email=customer_email,
        customer_phone=customer_phone,
        date=day,
        time=at,
        party_size=party_size,
        area=area,
        special_requests=special_requests,
        metadata=dict(metadata or {}),
        confirm_by=confirm_by,
        language=language,
    )
    # 1. The time is in the future, and not too far ahead.
    set_start(reservation, now=now)
    # 2. The venue seats guests at this time.
    slot = find_slot(reservation, now=now) if hold_id is None else None
    # 3. Waiting parties get free tables first; the task that was enqueued for them may not have run yet.
    if slot and venue.when_full == Venue.WhenFull.WAITLIST:
        waitlist.process_waitlist(venue, now=now, day=day)
    agreed = terms.find_terms(reservation, now=now)
    is_request = requests_deposit_times and agreed is not None and agreed.deposit_usdc is not None
    with transaction.atomic():
        # 4. Tables and status.
        if hold_id is not None:
            holds.take_over(hold_id, reservation, now=now)
            reservation.status, reservation.pending_reason = CONFIRMED, None
        if hold_id is not None or decide(reservation, slot, is_request=is_request, now=now):
            if confirm_by is not None:
                reservation.status, reservation.pending_reason = PENDING, Reason.EMAIL_CONFIRMATION
            # 5. The row, its events and the mail.
            mail = MAIL_BY_PENDING_REASON[reservation.pending_reason]
            insert(reservation, mail=mail, actor=actor, now=now)
            terms.agree(reservation, agreed, paid_usdc=deposit_usdc)
            return reservation
    raise slot_unavailable_error(reservation, now=now)


def decide(reservation: Reservation, slot: Slot | None, *, is_request: bool = False, now: datetime) -> bool:
    """Set the end, the status and the tables of a new reservation; return False if there is no room.

    The staff decide on one that `is_request`, so it gets no table.
    """
    venue, party_size = reservation.venue, reservation.party_size
    reservation.status, reservation.pending_reason = PENDING, None
    if slot is None:
        reservation.ends_at = reservation.starts_at + default_turn_time(party_size)
        reservation.pending_reason = Reason.MANUAL
        return True
    reservation.ends_at = slot.ends_at(party_size)
    if party_size > venue.auto_confirm_max_party:
        reservation.pending_reason = Reason.LARGE_PARTY
    elif is_request:
        reservation.pending_reason = Reason.MANUAL
    elif table_assignment.assign_best(reservation, pacing_covers=slot.period.pacing_covers, now=now) is not None:
        reservation.status = CONFIRMED
    elif venue.when_full == Venue.WhenFull.WAITLIST and has_place_for(
        list_places(venue, area=reservation.area), party_size
    ):
        reservation.pending_reason = Reason.WAITLIST
    else:
        return False
    return True


def set_status(
    reservation: Reservation, status: str, *, mail_after: timedelta | None = NO_DELAY, now: datetime, actor: str
) -> None:
    """Confirm or cancel. Setting the current status again changes nothing. With `mail_after` None it sends no email.

    Confirming assigns the best free table. If there is none, a party on the waiting list is not confirmed; others are
    confirmed without a table. Cancelling releases the tables, decides on the deposit and triggers the waiting list.

    Raises InvalidTransition, SlotUnavailable; then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        if status == CONFIRMED and reservation.status == PENDING and not reservation.seatings.exists():
            needs_table = waitlist.is_waitlisted(reservation) and table_assignment.has_tables(reservation.venue_id)
            if table_assignment.assign_best(reservation, store=True, now=now) is None and needs_table:
                raise slot_unavailable_error(reservation, now=now)
        if status == CANCELLED:
            table_assignment.release(reservation)
        if not reservation.move_to(status, now=now):
            return
        if status == CANCELLED:
            terms.end_by_cancellation(reservation, actor=actor, now=now)
            waitlist.schedule_offers(reservation.venue)
        event, mail = EventType(f"reservation.{status}"), GuestMail.Kind(status)
        record_change(reservation, event, mail=mail, mail_after=mail_after, actor=actor, now=now)


def undo_cancellation(
    reservation: Reservation,
    former: Mapping[str, Any],
    *,
    version: int,
    mail: UUID | None,
    now: datetime,
    actor: str,
) -> None:
    """Restore a cancelled reservation: `former` are its CANCELLATION_FIELDS before, `version` is its version since.

    It gets its tables again, or the best free ones if one of them was taken. A party on the waiting list whose offered
    table was taken waits again. The email about the cancellation is withdrawn; if it is sent already, the guest gets
    the email of a new reservation. A deposit that was returned is held again.

    Raises VersionConflict, TableTaken if no table is free any more, and InvalidTransition if the deposit was refunded;
    then nothing is changed.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        require_version(reservation, {version})
        is_announced = mail is not None and not withdraw_mail(reservation, mail)
        for name in CANCELLATION_FIELDS:
            setattr(reservation, name, former[name])
        terms.undo_cancellation(reservation, actor=actor)
        reservation.cancelled_at = None
        if reservation.tables and table_assignment.has_tables(reservation.venue_id):
            restore_tables(reservation, reservation.tables, now=now)
        reservation.save_version(*CANCELLATION_FIELDS, "cancelled_at", now=now)
        is_confirmed = reservation.status == CONFIRMED
        event = EventType.RESERVATION_CONFIRMED if is_confirmed else EventType.RESERVATION_UPDATED
        kind = (
            GuestMail.Kind.OFFERED if reservation.offered_until else MAIL_BY_PENDING_REASON[reservation.pending_reason]
        )
        record_change(reservation, event, mail=kind if is_announced else None, actor=actor, now=now)


def restore_tables(reservation: Reservation, names: Sequence[str], *, now: datetime) -> None:
    """Assign these tables again, or the best free ones. Raises TableTaken, except for a party on the waiting list."""
    reservation.tables = []
    try:
        reassign_tables(reservation, names, now=now)
    except SlotUnavailable as error:
        if not waitlist.is_waitlisted(reservation):
            message = _("%(tables)s was taken in the meantime, and no other table is free.")
            raise table_assignment.TableTaken(message % {"tables": ", ".join(names)}, param="tables") from error
        reservation.offered_until = None


def create_by_staff(
    reservation: Reservation, *, status: Reservation.Status = PENDING, now: datetime, actor: str
) -> None:
    """Insert a reservation entered by staff: at any time, also a past one, regardless of service hours and pacing.

    If the venue has tables, `reservation.tables` names those to assign; if it is empty, a confirmed reservation gets
    the best free table, if any. Otherwise the names are free text.

    Raises NonexistentTime, UnknownTable, TableTaken; then nothing is stored.
    """
    has_tables = table_assignment.has_tables(reservation.venue_id)
    reservation.starts_at = to_utc(reservation.venue, day=reservation.date, at=reservation.time)
    reservation.ends_at = reservation.starts_at + stay_duration(reservation, has_tables=has_tables)
    reservation.status = status
    reservation.pending_reason = Reason.MANUAL if status == PENDING else None
    with transaction.atomic():
        if has_tables and reservation.tables:
            table_assignment.assign_named(reservation, reservation.tables, now=now)
        elif has_tables and status == CONFIRMED:
            table_assignment.assign_best(reservation, now=now)
        insert(reservation, mail=GuestMail.Kind.CONFIRMED if status == CONFIRMED else None, actor=actor, now=now)


def add_to_waitlist(reservation: Reservation, *, now: datetime, actor: str) -> None:
    """Insert a party that staff put on the waiting list, for a time in the future, regardless of service hours.

    It is offered a table like the others on the list, and emailed that it is on the list. Without contact data it is a
    walk-in party, which staff call. Raises NonexistentTime, ReservationInPast, DateTooFarAhead, SlotUnavailable if no
    table seats so many; then nothing is stored.
    """
    venue, party_size = reservation.venue, reservation.party_size
    set_start(reservation, now=now)
    has_tables = table_assignment.has_tables(venue.pk)
    if has_tables and not has_place_for(list_places(venue), party_size):
        message = _("There is no table for %(party_size)s here.") % {"party_size": party_size}
        raise SlotUnavailable(message, param="party_size", extra={"alternatives": []})
    reservation.ends_at = reservation.starts_at + stay_duration(reservation, has_tables=has_tables)
    reservation.status, reservation.pending_reason, reservation.tables = PENDING, Reason.WAITLIST, []
    reservation.is_walk_in = not (reservation.customer_email or reservation.customer_phone)
    with transaction.atomic():
        insert(reservation, mail=GuestMail.Kind.WAITLISTED, actor=actor, now=now)
        waitlist.schedule_offers(venue)


def seat_walk_in(venue: Venue, *, party_size: int, now: datetime, actor: str) -> Reservation:
    """Create a confirmed and seated reservation of a party without one, from this minute on, without contact data.

    A venue without tables gets the reservation without a table. Raises NoTableFree; then nothing is stored.
    """
    local = now.astimezone(ZoneInfo(venue.timezone))
    reservation = Reservation(
        venue=venue,
        customer_name="Walk-in",
        is_walk_in=True,
        date=local.date(),
        time=local.time().replace(second=0, microsecond=0),
        party_size=party_size,
    )
    with transaction.atomic():
        create_by_staff(reservation, status=CONFIRMED, now=now, actor=actor)
        if not reservation.tables and table_assignment.has_tables(venue.pk):
            message = _("No table for %(party_size)s is free now.") % {"party_size": party_size}
            raise waitlist.NoTableFree(message, param="party_size")
        record_arrival(reservation, Reservation.Arrival.SEATED, actor=actor, now=now)
    return reservation


def update(
    reservation: Reservation,
    *,
    day: date | None = None,
    at: time | None = None,
    party_size: int | None = None,
    tables: Sequence[str] | None = None,
    guest: Mapping[str, Any] | None = None,
    versions: Collection[int] | None = None,
    by_rule: bool = False,
    mail_after: timedelta | None = NO_DELAY,
    now: datetime,
    actor: str,
) -> None:
    """Change what staff, an integration or the guest has changed; None stays as it is.

    `guest` are changed values of name, contact data, special requests, metadata and area. `tables` are the new
    tables; an empty list removes them. Without it, the reservation keeps its tables; if they are taken at the new
    time, or the party size changed, it gets the best free ones. One without tables, or of a departed party, stays
    without. A pending one that is given tables waits for staff only. If nothing changes, no event is recorded.

    Service hours and pacing do not apply, unless the change is `by_rule`: then a new time, party size or area follows
    the rule of a booking (`move_by_rule`). `versions` are those that the caller has seen, if others must not be
    changed. The email to the guest is due after `mail_after`; None sends none.

    Raises VersionConflict, ContactRequired, NonexistentTime, UnknownTable, TableTaken; SlotUnavailable if a
    reservation with tables finds none; InvalidTransition if it is cancelled, or a departed party is given a table; by
    the rule also what `book` raises. Then nothing is changed: the reservation keeps its tables.
    """
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        require_version(reservation, versions)
        if reservation.status == CANCELLED:
            raise InvalidTransition(_("This reservation is cancelled and cannot be changed."), param="status")
        before = {name: getattr(reservation, name) for name in UPDATED_FIELDS}
        # 1. The guest.
        for name, value in (guest or {}).items():
            setattr(reservation, name, value)
        if reservation.needs_contact and not (reservation.customer_email or reservation.customer_phone):
            raise ContactRequired(_("Enter an email address or a phone number."), param="customer_email")
        # 2. The time and the size of the party.
        held = table_assignment.held_tables(reservation)
        has_tables = table_assignment.has_tables(reservation.venue_id) or reservation.seatings.exists()
        reservation.date = reservation.date if day is None else day
        reservation.time = reservation.time if at is None else at
        reservation.party_size = reservation.party_size if party_size is None else party_size
        is_moved = any(before[name] != getattr(reservation, name) for name in ("date", "time", "party_size"))
        is_area_changed = before["area_id"] != reservation.area_id
        follows_rule = by_rule and (is_moved or is_area_changed)
        if is_moved and not follows_rule:
            reservation.starts_at = to_utc(reservation.venue, day=reservation.date, at=reservation.time)
            reservation.ends_at = reservation.starts_at + stay_duration(reservation, has_tables=has_tables)
        # 3. The tables.
        is_released = False
        if follows_rule:
            is_released = move_by_rule(reservation, now=now)
        elif not has_tables:
            reservation.tables = reservation.tables if tables is None else list(tables)
        elif tables is not None:
            is_released = set_tables(reservation, sorted(set(tables)), held=held, is_moved=is_moved, now=now)
        elif is_moved and reservation.arrival not in DEPARTED:
            is_released = table_assignment.release(reservation)
            if held:
                is_resized = before["party_size"] != reservation.party_size
                reassign_tables(reservation, [] if is_resized else held, now=now)
        if not is_released and before == {name: getattr(reservation, name) for name in UPDATED_FIELDS}:
            return
        # 4. The offer of a table, and the deadline of the guest. Staff who change the booking confirm the guest.
        if reservation.offered_until is not None:
            has_offered_tables = waitlist.is_waitlisted(reservation) and reservation.tables
            reservation.offered_until = waitlist.offer_expires_at(reservation) if has_offered_tables else None
        if reservation.pending_reason != Reason.EMAIL_CONFIRMATION:
            reservation.confirm_by = None
        # 5. The row, the event and the mail.
        reservation.save_version(*UPDATED_FIELDS, now=now)
        if is_moved:
            terms.move_deadline(reservation, by_guest=actor == "guest", now=now)
        is_confirmed = reservation.status != before["status"]
        event = EventType.RESERVATION_CONFIRMED if is_confirmed else EventType.RESERVATION_UPDATED
        is_changed = is_moved or is_area_changed
        mail = GuestMail.Kind.CONFIRMED if is_confirmed else GuestMail.Kind.CHANGED if is_changed else None
        former = to_former(before) if is_changed else None
        if former and is_area_changed:
            former["area"] = Area.objects.filter(pk=before["area_id"]).values_list("name", flat=True).first() or ""
        record_change(reservation, event, mail=mail, former=former, mail_after=mail_after, actor=actor, now=now)
        if is_released:
            waitlist.schedule_offers(reservation.venue)


def require_version(reservation: Reservation, versions: Collection[int] | None) -> None:
    """Raise VersionConflict unless the locked row has one of these versions; None allows all."""
    if versions is not None and reservation.version not in versions:
        raise VersionConflict(_("Another user has changed this reservation. Check it and try again."), param="version")


def move_by_rule(reservation: Reservation, *, now: datetime) -> bool:
    """Give a locked reservation tables for its new time, size or area, and return whether it had others.

    A confirmed one stays confirmed or is not moved. A pending one is decided anew: one from the waiting list is
    confirmed if there is room. Raises what `book` raises, and InvalidTransition for a party that has arrived.
    """
    if reservation.arrival is not None:
        raise InvalidTransition(f"This party is {reservation.arrival}: its staff change it.", param="arrival")
    was_confirmed = reservation.status == CONFIRMED
    is_unproven = reservation.pending_reason == Reason.EMAIL_CONFIRMATION
    is_released = table_assignment.release(reservation)
    set_start(reservation, now=now)
    is_large = reservation.party_size > reservation.venue.auto_confirm_max_party
    # Before the hours are checked: no other time could be named.
    if was_confirmed and is_large and table_assignment.has_tables(reservation.venue_id):
        message = _("The staff of this restaurant arrange parties of %(party_size)s. Please call them.")
        values = {"party_size": reservation.party_size}
        raise SlotUnavailable(message % values, param="party_size", extra={"alternatives": []})
    slot = find_slot(reservation, now=now)
    if was_confirmed and slot is None:
        # As for guests: without tables nothing says that the venue agrees.
        message = "The staff of this restaurant confirm each reservation. Please call them, or send `tables` for them."
        raise SlotUnavailable(message, param="time", extra={"alternatives": []})
    if not decide(reservation, slot, now=now):
        raise slot_unavailable_error(reservation, now=now)
    if was_confirmed and reservation.pending_reason == Reason.WAITLIST:
        raise slot_unavailable_error(reservation, now=now)
    if was_confirmed:
        reservation.status, reservation.pending_reason = CONFIRMED, None
    elif is_unproven:
        reservation.status, reservation.pending_reason = PENDING, Reason.EMAIL_CONFIRMATION
    return is_released


def change(
    reservation: Reservation,
    changes: Mapping[str, Any],
    *,
    versions: Collection[int] | None = None,
    now: datetime,
    actor: str,
) -> None:
    """Make all of these changes or none, for an integration or the guest: arguments of `update`, `status`, `arrival`.

    A change without `tables` follows the rule of a booking. Raises what `update`, `set_status` and `record_arrival`
    raise.
    """
    values = dict(changes)
    status, arrival = values.pop("status", None), values.pop("arrival", None)
    venue, by_rule = reservation.venue, "tables" not in values
    if by_rule and values and venue.when_full == Venue.WhenFull.WAITLIST:
        # Waiting parties get free tables first. Not inside of the transaction, which locks this reservation.
        waitlist.process_waitlist(venue, now=now, day=values.get("day", reservation.date))
    with transaction.atomic():
        table_assignment.lock_reservation(reservation)
        require_version(reservation, versions)
        if values:
            update(reservation, **values, by_rule=by_rule, now=now, actor=actor)
        if status is not None:
            set_status(reservation, status, now=now, actor=actor)
        if arrival is not None:
            record_arrival(reservation, arrival, now=now, actor=actor)


def set_tables(reservation: Reservation, names: list[str], *, held: list[str], is_moved: bool, now: datetime) -> bool:
    """Assign these tables, unless it already has them, and return whether others were released.

    Raises UnknownTable, TableTaken; InvalidTransition for a departed party, whose tables can only be removed.
    """
    is_departed = reservation.arrival in DEPARTED
    if names == sorted(reservation.tables) and (is_departed or (names == held and not is_moved)):
        return False
    if is_departed and names:
        message = _("This party has left or did not come, so no table can be assigned.")
        raise InvalidTransition(message, param="tables")
    is_released = table_assignment.release(reservation)
    reservation.tables = []
    if names:
        table_assignment.assign_named(reservation, names, now=now)
        reservation.pending_reason = Reason.MANUAL if reservation.status == PENDING else None
    return is_released


def reassign_tables(reservation: Reservation, names: Sequence[str], *, now: datetime) -> None:
    """Assign these tables if they are free, else the best free ones. Raises SlotUnavailable."""
    if names:
        try:
            table_assignment.assign_named(reservation, names, now=now)
        except (table_assignment.TableTaken, table_assignment.UnknownTable):
            pass
        else:
            return
    if table_assignment.assign_best(reservation, now=now) is None:
        raise slot_unavailable_error(reservation, now=now)


def insert(reservation: Reservation, *, mail: GuestMail.Kind | None, actor: str, now: datetime) -> None:
    """Insert the row, with another code if the venue has used this one, and record the events and the mail."""
    reservation.created_at = reservation.updated_at = now
    for _attempt in range(MAX_CODE_ATTEMPTS):
        try:
            with transaction.atomic():
                reservation.save(force_insert=True)
            break
        except IntegrityError as error:
            if "reservation_code_unique_per_venue" not in str(error):
                raise
            reservation.code = generate_code()
    else:
        raise RuntimeError(f"{MAX_CODE_ATTEMPTS} codes in a row are in use")
    if reservation.status == CONFIRMED:
        record_change(reservation, EventType.RESERVATION_CREATED, mail=None, actor=actor, now=now)
        record_change(reservation, EventType.RESERVATION_CONFIRMED, mail=mail, actor=actor, now=now)
    else:
        record_change(reservation, EventType.RESERVATION_CREATED, mail=mail, actor=actor, now=now)
