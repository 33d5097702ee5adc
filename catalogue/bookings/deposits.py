"""Deposits: a table is held, its deposit is paid, and both become a booking in one transaction.

    hold the table -> settle the payment -> book it: reservation, booking and delivered payment at once

A request that dies after the settlement leaves a settled payment that has bought nothing: the same request gets the
table for it, until `reconcile` marks it refund due. Of the two one takes place (payments.interface.deliver). What
becomes of a deposit afterwards is decided in reservations.booking.terms, in the transaction of the cancellation or
arrival, and `give_back` marks the refund due in the same transaction. docs/deposits.md draws the states.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Q, Sum

from accounts.idempotency import IdempotencyInProgress
from accounts.models import Account, Venue
from catalogue.bookings import tables
from catalogue.bookings.tables import PaidDeposit
from catalogue.bookings.venues import find_venue
from catalogue.models import Deposit
from catalogue.offers.booking import SlotFull, lock_guest
from framework.errors import ApiError, ErrorCode, NotFound
from framework.public_ids import decode
from payments.interface import (
    OPEN_STATES,
    Caller,
    Proof,
    Purchase,
    Receipt,
    SettlementPending,
    cancel_refund_due,
    collect_payment,
    find_presented,
    fixed_price,
    is_presented,
    is_presenter,
    list_pending,
    mark_refund_due,
    mark_undelivered_refund_due,
    refund_undelivered,
)
from payments.interface import erase_refund_requests as erase_refund_texts
from payments.models import Payment
from reservations.booking import holds, table_assignment, terms
from reservations.booking.availability import OutsideServiceHours, SlotUnavailable, choose_area
from reservations.booking.terms import Terms
from reservations.booking.times import set_start
from reservations.models import AgreedTerms, Area, Hold, Reservation
from reservations.models.holds import MAX_MINUTES
from reservations.models.holds import PREFIX as HOLD_PREFIX

T = TypeVar("T")
# A settled deposit that has booked nothing for so long is refund due: its hold has ended then.
BOOK_WITHIN = timedelta(minutes=MAX_MINUTES)
# A deposit is returned so long after the end of a reservation for which staff have recorded nothing.
RETURN_AFTER = timedelta(hours=24)
BATCH_SIZE = 100


class OtherPaymentPending(ApiError):
    """Another payment of the deposit is being settled, or has arrived; this one is not used, and stays its payer's."""

    code = ErrorCode.SETTLEMENT_PENDING

    def __init__(self) -> None:
        super().__init__(
            "Another payment of this deposit is being settled, or has arrived. This request has charged nothing: ask"
            " again with that payment. If it books no table within 15 minutes, it is refunded.",
            headers={"Retry-After": "2", "Cache-Control": "no-store"},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """What a request brings to pay a deposit, and the purchase that it asks for, the guest included."""

    caller: Caller
    purchase: Purchase
    proof: Proof | None
    receipt_token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The table that the deposit is for, as in tables.book_table."""

    slug: str
    day: date
    at: time
    party_size: int
    customer_email: str | None = None
    customer_phone: str | None = None
    area: str | None = None
    additional_table: bool = False


def pay(table: Table, asked: Terms, presented: Presented, *, now: datetime) -> PaidDeposit:
    """Hold the table and take its deposit; book it with the result by `book_paid`. Call it outside of transactions.

    A payment of the caller for this very request that has arrived before is used instead of a second one. Raises
    SlotFull and what holds.create raises before anything is paid, what checkout.collect raises, and
    OtherPaymentPending. With any of these the hold is released, unless the outcome of the settlement is not known.
    """
    row = find_presented(presented.proof, caller=presented.caller, now=now)
    for pending in list_pending(presented.purchase):
        is_open, is_this = pending.state in OPEN_STATES, is_presented(pending, presented.proof)
        if not is_open and is_presenter(pending, presented.caller):
            return PaidDeposit(receipt=Receipt.for_payment(pending), hold_id=find_hold(presented.purchase))
        if not is_this and (row is None or pending.pk != row.pk):
            raise OtherPaymentPending
    if presented.proof is None:
        tables.check_table(table.slug, day=table.day, at=table.at, party_size=table.party_size, now=now)
    if row is not None and row.purchase == presented.purchase.key and row.state in Payment.EARNED:
        # The checkout says whether the caller is its owner. Perhaps it has booked already.
        return PaidDeposit(receipt=collect(asked, presented, table, now=now), hold_id=find_hold(presented.purchase))
    if presented.proof is None:
        collect(asked, presented, table, now=now)
    _, venue = find_venue(table.slug)
    hold = hold_table(venue, table, owner=presented.purchase.key, now=now)
    try:
        receipt = collect(asked, presented, table, now=now)
    except SettlementPending:
        raise
    except ApiError:
        release_unused(hold, presented.purchase)
        raise
    return PaidDeposit(receipt=receipt, hold_id=hold.public_id)


def find_hold(purchase: Purchase) -> str | None:
    """Return the public id of the hold that an earlier request for this purchase made; None without one. One query."""
    hold = Hold.objects.filter(owner=purchase.key).first()
    return hold.public_id if hold else None


def collect(asked: Terms, presented: Presented, table: Table, *, now: datetime) -> Receipt:
    """Take exactly the deposit, whatever the tier and the plan of the caller. Raises what checkout.collect raises."""
    if asked.deposit_usdc is None:
        raise ValueError("these terms ask for no deposit")
    description = f"Deposit for a table for {table.party_size} on {table.day} at {table.at:%H:%M}. {asked.text}"
    return collect_payment(
        presented.purchase,
        products=[Payment.DEPOSIT],
        prices=fixed_price(Payment.DEPOSIT, asked.deposit_usdc, description=description, now=now),
        caller=presented.caller,
        proof=presented.proof,
        receipt_token=presented.receipt_token,
        now=now,
    )


def hold_table(venue: Venue, table: Table, *, owner: str, now: datetime) -> Hold:
    """Return the hold of this purchase, or hold a table for it. Counts as a try to book for the guest.

    Raises what lock_guest and holds.create raise; SlotFull if no table is free.
    """
    area: Area | None = choose_area(venue, table.area)
    own = Hold.objects.active(now=now).filter(venue=venue, owner=owner)
    if (held := own.first()) is not None:
        return held
    party = Reservation(venue=venue, date=table.day, time=table.at, party_size=table.party_size)
    set_start(party, now=now)
    with transaction.atomic():
        # The guest's lock is held until the hold is stored, so that a repeated request finds it.
        wanted = None if table.additional_table else party
        lock_guest(table.customer_email, table.customer_phone, wanted=wanted, now=now)
        if (held := own.first()) is not None:
            return held
        try:
            return holds.create(
                venue,
                owner=owner,
                day=table.day,
                at=table.at,
                party_size=table.party_size,
                area=area,
                minutes=MAX_MINUTES,
                now=now,
            )
        except (SlotUnavailable, OutsideServiceHours) as refusal:
            raise SlotFull(refusal.message, param=refusal.param, extra=refusal.extra) from refusal


def release_unused(hold: Hold, purchase: Purchase) -> None:
    """Release the hold of a purchase, unless another payment for it is on its way."""
    if not list_pending(purchase):
        # It may have ended meanwhile.
        with suppress(NotFound):
            holds.release(hold)


def book_paid(paid: PaidDeposit, book: Callable[[PaidDeposit], T]) -> T:
    """Book the table whose deposit was paid. If that is refused, the deposit is refund due, and the error says so.

    If it fails, the same request books the table later, or `reconcile` marks the deposit refund due. Raises
    SettlementPending then.
    """
    try:
        return book(paid)
    except DatabaseError as error:
        raise SettlementPending from error
    except IdempotencyInProgress:
        raise
    except ApiError as refusal:
        if refusal.status < 500 and refund_undelivered(paid.receipt.payment, message=refusal.message, by="bookings"):
            release_held(paid)
            refusal.message += " The deposit goes back to you."
            refusal.extra["refund"] = Payment(pk=paid.receipt.payment).public_id
        raise


def release_held(paid: PaidDeposit) -> None:
    """Release the table that was held for a deposit which goes back."""
    if paid.hold_id is None:
        return
    key = decode(HOLD_PREFIX, paid.hold_id)
    hold = Hold.objects.select_related("venue").filter(pk=key).first() if key else None
    if hold is not None:
        with suppress(NotFound):
            holds.release(hold)


def give_back(reservation: Reservation, actor: str) -> None:
    """Mark the deposit of a reservation refund due, in the transaction that returns it. Three statements."""
    deposit = Deposit.objects.select_related("payment").filter(booking__reservation=reservation).first()
    if deposit is not None:
        mark_refund_due(deposit.payment_id, reason=Payment.RefundReason.DEPOSIT_RETURNED, by=actor)


def hold_again(reservation: Reservation, actor: str) -> bool:
    """Keep the deposit in the transaction that undoes a cancellation; False if it was refunded. Three statements."""
    deposit = Deposit.objects.select_related("payment").filter(booking__reservation=reservation).first()
    if deposit is None or cancel_refund_due(
        deposit.payment_id, reason=Payment.RefundReason.DEPOSIT_RETURNED, by=actor
    ):
        return True
    # A settlement that the chain contradicts was not marked.
    return Payment.objects.filter(pk=deposit.payment_id, state__in=Payment.EARNED).exists()


def reconcile(*, now: datetime) -> None:
    """Refund deposits that have booked nothing, and return those of reservations that are over.

    Any number may run at once. Three queries, and six for each deposit that is found.
    """
    mark_undelivered_refund_due(before=now - BOOK_WITHIN, product=Payment.DEPOSIT)
    held = Deposit.objects.filter(
        booking__reservation__agreed_terms__deposit_state=AgreedTerms.DepositState.HELD,
        booking__reservation__ends_at__lt=now - RETURN_AFTER,
    )
    for deposit in held.select_related("booking__reservation__venue")[:BATCH_SIZE]:
        reservation = deposit.booking.reservation
        with transaction.atomic():
            table_assignment.lock_reservation(reservation)
            if reservation.ends_at < now - RETURN_AFTER:
                terms.return_deposit(reservation, actor="system", now=now)
    # Returned, and the chain has shown only now that the money had arrived.
    returned = Deposit.objects.filter(
        Q(payment__block__isnull=False) | Q(payment__error=""),
        booking__reservation__agreed_terms__deposit_state=AgreedTerms.DepositState.RETURNED,
        payment__state__in=Payment.EARNED,
    )
    for deposit in returned[:BATCH_SIZE]:
        mark_refund_due(deposit.payment_id, reason=Payment.RefundReason.DEPOSIT_RETURNED, by="system")


def find_closure_blocker(account: Account, now: datetime) -> str | None:
    """Return why an account cannot be closed: its reservations, which are deleted later, hold deposits of guests."""
    held = AgreedTerms.objects.filter(reservation__venue__account=account, deposit_state=terms.HELD)
    number = held.count()
    return f"Reservations with a deposit of the guest: {number}. Cancel them first." if number else None


def purchase_of(requested: Purchase, content: str) -> Purchase:
    """Return the purchase of a request whose guest is not part of it, such as a tool call with a form."""
    return replace(requested, key=hashlib.sha256(f"{requested.key} {content}".encode()).hexdigest())


def sum_deposits() -> dict[str, Decimal]:
    """Return the sums in USDC of what is held, and of what is kept and payable to venues. One query."""
    rows = Deposit.objects.filter(payment__state__in=Payment.EARNED).order_by()
    state = "booking__reservation__agreed_terms__deposit_state"
    sums = dict(rows.values_list(state).annotate(Sum("payment__amount_usdc")))
    return {name: sums.get(name) or Decimal(0) for name in (terms.HELD, terms.KEPT)}


def erase_refund_requests(reservations: Sequence[UUID]) -> None:
    """Erase what erased guests wrote when they asked for a deposit back. One statement."""
    deposits = Deposit.objects.filter(booking__reservation__in=reservations)
    erase_refund_texts(Payment.objects.filter(pk__in=deposits.values("payment")))
