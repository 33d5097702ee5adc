"""Cancellation terms and deposits of venues: what a slot asks, what was agreed, and what becomes of a deposit.

Payments are unknown here: an app above takes the money, and adds itself to RETURN_DEPOSIT to give it back.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Self

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.errors import ApiError, ErrorCode
from framework.languages import format_moment
from reservations.models import AgreedTerms, CancellationTerms, InvalidTransition, Reservation

CURRENCY = "USDC"
HELD, KEPT, RETURNED = AgreedTerms.DepositState.HELD, AgreedTerms.DepositState.KEPT, AgreedTerms.DepositState.RETURNED
# Each state of a deposit, and those that may follow it; "" is no deposit. docs/deposits.md draws them.
TRANSITIONS: Mapping[str, frozenset[str]] = {
    "": frozenset({HELD}),
    HELD: frozenset({KEPT, RETURNED}),
    KEPT: frozenset({RETURNED}),
    RETURNED: frozenset({HELD}),  # the cancellation is undone
}
# Give back the deposit of a reservation, in the transaction that decides so; the text names who did it.
RETURN_DEPOSIT: list[Callable[[Reservation, str], None]] = []
# Keep it after all; False if it was sent back.
HOLD_DEPOSIT_AGAIN: list[Callable[[Reservation, str], bool]] = []


class DepositRequired(ApiError):
    """The slot asks for a deposit, or for a higher one than was paid."""

    code = ErrorCode.DEPOSIT_REQUIRED

    def __init__(self, message: str, *, terms: "Terms") -> None:
        super().__init__(message, param="time", extra={"deposit": terms.deposit})
        self.terms = terms


class NoDepositKept(InvalidTransition):
    """There is no deposit that staff could return."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a slot: until when the guest cancels free of charge, and the deposit of the whole party in USDC.

    `now` is when they are read.
    """

    now: datetime
    starts_at: datetime
    timezone: str
    free_hours: int | None
    deposit_usdc: Decimal | None

    @classmethod
    def at(
        cls,
        rows: Iterable[CancellationTerms],
        *,
        venue: Venue,
        day: date,
        starts_at: datetime,
        party_size: int,
        now: datetime,
    ) -> Self | None:
        """Return the strictest terms that apply; None if none do. No query.

        These have the highest deposit, and of several the longest notice.
        """
        applicable = (
            row
            for row in rows
            if row.party_from <= party_size
            and day.weekday() in row.weekdays
            and (row.first_date is None or row.first_date <= day)
            and (row.last_date is None or day <= row.last_date)
        )
        strictest = max(applicable, key=lambda row: (row.deposit_usdc or 0, row.free_hours or 0), default=None)
        if strictest is None:
            return None
        each = strictest.deposit_usdc
        deposit_usdc = None if each is None else each * party_size
        return cls(now, starts_at, venue.timezone, strictest.free_hours, deposit_usdc)

    @property
    def cancel_free_until(self) -> datetime:
        return self.starts_at - timedelta(hours=self.free_hours or 0)

    @property
    def deposit(self) -> dict[str, str] | None:
        """The deposit as the APIs write it: {"amount": "40", "currency": "USDC"}; None without one."""
        if self.deposit_usdc is None:
            return None
        return {"amount": format_amount(self.deposit_usdc), "currency": CURRENCY}

    @property
    def text(self) -> str:
        """The terms in words, for guests."""
        return describe_terms(
            self.cancel_free_until, self.starts_at, self.deposit_usdc, zone=self.timezone, now=self.now
        )


def format_amount(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def format_usdc(amount: Decimal) -> str:
    return f"{format_amount(amount)} {CURRENCY}"


def describe_terms(
    free_until: datetime, starts_at: datetime, deposit_usdc: Decimal | None, *, zone: str, now: datetime
) -> str:
    """Describe terms to the guest. The deadline is before the start, or the start itself."""
    is_always_free, is_over = free_until >= starts_at, free_until <= now
    values = {"deadline": format_moment(free_until, zone)}
    if deposit_usdc is None:
        if is_always_free:
            return _("You can cancel free of charge.")
        if is_over:
            return _("Free cancellation ended at %(deadline)s.") % values
        return _("You can cancel free of charge until %(deadline)s.") % values
    values["deposit"] = format_usdc(deposit_usdc)
    if is_always_free:
        text = _(
            "The deposit of %(deposit)s is returned when you come, or if you cancel before. If you do not come, the"
            " restaurant keeps it."
        )
    elif is_over:
        text = _(
            "The deposit of %(deposit)s is returned when you come. If you cancel or do not come, the restaurant keeps"
            " it."
        )
    else:
        text = _(
            "The deposit of %(deposit)s is returned when you come, or if you cancel until %(deadline)s. If you cancel"
            " later or do not come, the restaurant keeps it."
        )
    return text % values


def describe_agreed(reservation: Reservation, agreed: AgreedTerms | None, *, now: datetime) -> str:
    """Describe the agreed terms of a reservation to its guest, and what became of the deposit; empty without any."""
    if agreed is None:
        return ""
    amount = format_usdc(agreed.deposit_usdc) if agreed.deposit_usdc is not None else ""
    if agreed.deposit_state == RETURNED:
        return _("The deposit of %(deposit)s is returned to you.") % {"deposit": amount}
    if agreed.deposit_state == KEPT:
        return _("The restaurant keeps the deposit of %(deposit)s.") % {"deposit": amount}
    if reservation.status == Reservation.Status.CANCELLED:
        return ""
    if amount and not agreed.deposit_state and reservation.status == Reservation.Status.PENDING:
        return _("The restaurant may ask you for a deposit of %(deposit)s.") % {"deposit": amount}
    paid = agreed.deposit_usdc if agreed.deposit_state else None
    return describe_terms(agreed.free_until, reservation.starts_at, paid, zone=reservation.venue.timezone, now=now)


def list_terms(venue: Venue) -> list[CancellationTerms]:
    """Return the venue's terms. One query."""
    return list(CancellationTerms.objects.filter(venue=venue).order_by("party_from", "id"))


def find_terms(party: Reservation, *, now: datetime) -> Terms | None:
    """Return the terms of a party whose start is set; None if the venue states none for it. One query."""
    return Terms.at(
        list_terms(party.venue),
        venue=party.venue,
        day=party.date,
        starts_at=party.starts_at,
        party_size=party.party_size,
        now=now,
    )


def agree(reservation: Reservation, terms: Terms | None, *, paid_usdc: Decimal | None = None) -> None:
    """Store the terms that a new reservation is made on, and the deposit that was paid. One statement, or none."""
    if terms is None and paid_usdc is None:
        return
    asked_usdc = terms.deposit_usdc if terms else None
    AgreedTerms.objects.create(
        reservation=reservation,
        free_hours=terms.free_hours if terms else None,
        free_until=terms.cancel_free_until if terms else reservation.starts_at,
        deposit_usdc=asked_usdc if paid_usdc is None else paid_usdc,
        deposit_state="" if paid_usdc is None else HELD,
    )


def find_agreed(reservation: Reservation) -> AgreedTerms | None:
    """Return the agreed terms of a reservation, as they are now; None without any. One query."""
    return AgreedTerms.objects.filter(pk=reservation.pk).first()


def find_held_deposit(reservation: Reservation) -> Decimal:
    """Return the deposit that is held for a reservation, in USDC; 0 without one. One query."""
    agreed = find_agreed(reservation)
    return agreed.deposit_usdc if agreed and agreed.deposit_usdc and agreed.deposit_state == HELD else Decimal(0)


def require_no_higher_deposit(reservation: Reservation, *, now: datetime) -> None:
    """Raise DepositRequired if its new slot asks for a higher deposit than the guest has paid. At most two queries.

    The new date, time and party size are set, and not stored.
    """
    terms = find_terms(reservation, now=now)
    if terms is None or terms.deposit_usdc is None:
        return
    paid = find_held_deposit(reservation)
    if terms.deposit_usdc <= paid:
        return
    asks = _("This time asks for a deposit of %(deposit)s.")
    if paid:
        asks = _("This time asks for a deposit of %(deposit)s, and %(paid)s were paid.")
    hint = _("A change cannot be paid for: cancel this booking and book again, or call the restaurant.")
    values = {"deposit": format_usdc(terms.deposit_usdc), "paid": format_usdc(paid)}
    raise DepositRequired(f"{asks % values} {hint}", terms=terms)


def move_deadline(reservation: Reservation, *, by_guest: bool, now: datetime) -> None:
    """Move the end of free cancellation with a reservation that was moved. Two statements, one without terms.

    A guest who moves it after the deadline does not get a new one.
    """
    agreed = find_agreed(reservation)
    if agreed is None or (by_guest and agreed.free_until <= now):
        return
    AgreedTerms.objects.filter(pk=agreed.pk).update(free_until=reservation.starts_at - agreed.free_for)


def return_deposit(reservation: Reservation, *, actor: str, now: datetime) -> bool:
    """Return a deposit that is held or kept to the guest; False if there is none. Call it with the row locked."""
    if not _decide(reservation, RETURNED, now=now):
        return False
    for give_back in RETURN_DEPOSIT:
        give_back(reservation, actor)
    return True


def return_kept(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Return a deposit that is kept, by decision of the staff. Idempotent. Raises NoDepositKept."""
    with transaction.atomic():
        # The row is locked, so that a concurrent decision is seen.
        agreed = AgreedTerms.objects.select_for_update().filter(pk=reservation.pk).first()
        state = agreed.deposit_state if agreed else ""
        if state == RETURNED:
            return
        if state != KEPT:
            raise NoDepositKept(_("No deposit of this reservation is kept."), param="status")
        return_deposit(reservation, actor=actor, now=now)


def keep_deposit(reservation: Reservation, *, now: datetime) -> bool:
    """Keep a deposit that is held for the restaurant; False if there is none. Call it with the row locked."""
    return _decide(reservation, KEPT, now=now)


def _decide(reservation: Reservation, state: str, *, now: datetime) -> bool:
    """Move the deposit to this state by one conditional UPDATE; return whether it was possible."""
    before = [each for each, following in TRANSITIONS.items() if each and state in following]
    rows = AgreedTerms.objects.filter(pk=reservation.pk, deposit_state__in=before)
    return bool(rows.update(deposit_state=state, decided_at=now))


def undo_cancellation(reservation: Reservation, *, actor: str) -> None:
    """Hold the deposit again that the cancellation of a locked reservation has returned. One statement without one.

    Raises InvalidTransition if it was refunded in the meantime. Call it before the reservation loses `cancelled_at`.
    """
    returned = AgreedTerms.objects.filter(
        pk=reservation.pk, deposit_state=RETURNED, decided_at=reservation.cancelled_at
    )
    if not returned.update(deposit_state=HELD, decided_at=None):
        return
    if not all(hold_again(reservation, actor) for hold_again in HOLD_DEPOSIT_AGAIN):
        raise InvalidTransition(_("The deposit was refunded in the meantime."), param="status")


def end_by_cancellation(reservation: Reservation, *, actor: str, now: datetime) -> None:
    """Decide on the deposit of a cancelled reservation. Call it with the row locked. At most three statements.

    It is kept if the guest cancels after the deadline; the venue's own cancellation always returns it.
    """
    agreed = find_agreed(reservation)
    if agreed is None:
        return
    if actor == "guest" and agreed.free_until <= now:
        keep_deposit(reservation, now=now)
    else:
        return_deposit(reservation, actor=actor, now=now)
