"""Payments of orders in USDC: an order is placed first, and paid while it is due.

    settle the payment -> record it: the paid order and the delivered payment, in one transaction

The amount of a plain transfer names its order (payments.x402.quotes): who presents its hash does not matter. A request
that dies after the settlement leaves a settled payment, which the next request for the order or `reconcile` records.
If the order is cancelled or paid by then, its refund is due. The transaction of a cancellation marks what was paid
refund due (orders.commands.REFUND_PAYMENT). docs/ordering-page.md has the states.
"""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Lower

from accounts.models import Account, Venue
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.errors import ApiError, ErrorCode
from orders import commands
from orders.models import Order, Orders
from orders.ordering_page import links
from orders.ordering_page.online_orders import is_payable
from payments.interface import (
    CLAIM_TIMEOUT,
    Caller,
    Proof,
    Purchase,
    Receipt,
    SettlementPending,
    TransactionProof,
    collect_payment,
    deliver,
    find_presented,
    fixed_price,
    is_presented,
    list_pending,
    mark_refund_due,
    refund_undelivered,
)
from payments.interface import erase_refund_requests as erase_refund_texts
from payments.models import Payment

logger = logging.getLogger("tablewire.worker")

State = Order.PaymentState
BATCH_SIZE = 100
# Of payments of one order; each costs a few requests to the chain.
MAX_PER_HOUR = 60


class OrderNotPayable(ApiError):
    """The order is paid, cancelled or over. `refund` names money that has arrived for it."""

    code = ErrorCode.INVALID_TRANSITION

    def __init__(self, *, refund: str | None = None) -> None:
        message = "This order cannot be paid: it is paid already, cancelled, or over."
        message += " A refund of what you have sent is due." if refund else " Nothing was charged."
        super().__init__(message, extra={"refund": refund} if refund else {}, headers={"Cache-Control": "no-store"})


class OtherPaymentPending(ApiError):
    """Another payment of the order is being settled; this one is not used, and stays its payer's."""

    code = ErrorCode.SETTLEMENT_PENDING

    def __init__(self) -> None:
        super().__init__(
            "Another payment of this order is being settled. This request has charged nothing: ask again.",
            headers={"Retry-After": "2", "Cache-Control": "no-store"},
        )


def count_attempt(order: Order) -> None:
    """Count an attempt to pay the order. Raises RateLimitExceeded."""
    count_within_an_hour("order-payment", str(order.pk), limit=MAX_PER_HOUR, what="payments of this order")


def purchase_of(order: Order) -> Purchase:
    """Return what a payment of the order buys. The link of the order is a secret of the guest, so it is not named."""
    page = links.page_url(order.venue)
    return Purchase(method="POST", url=f"{page}#{order.public_id}", key=order.public_id)


def has_paid(order: Order, proof: TransactionProof) -> bool:
    """Whether this transaction is the one that has paid the order. At most one query."""
    if order.usdc_payment is None:
        return False
    return Payment.objects.filter(pk=order.usdc_payment, tx_hash=proof.tx_hash).exists()


def pay(
    order: Order, *, caller: Caller, proof: Proof | None, receipt_token: str | None = None, now: datetime
) -> Receipt:
    """Take the payment of the order, and record it. Call it outside of transactions, with the order's venue.

    Raises OrderNotPayable, OtherPaymentPending, and what checkout.collect raises: PaymentRequired without a proof.
    A transfer that was sent already is recorded in any case: if it cannot pay the order, its refund is due.
    """
    purchase = purchase_of(order)
    # Everybody with the link of the order may pay it, from any network address.
    caller = replace(caller, origin=order.public_id)
    for pending in list_pending(purchase):
        if pending.state == Payment.State.SETTLED:
            record(order, pending.pk, now=now)
        elif not is_presented(pending, proof):
            raise OtherPaymentPending
    row = find_presented(proof, caller=caller, now=now)
    has_arrived = isinstance(proof, TransactionProof) or (row is not None and row.purchase == purchase.key)
    if order.usdc_amount is None or not (has_arrived or is_payable(order)):
        raise OrderNotPayable
    description = f"Order {order.number} of {order.business_date} at {order.venue.name}."
    receipt = collect_payment(
        purchase,
        products=[Payment.ORDER],
        prices=fixed_price(Payment.ORDER, order.usdc_amount, description=description, is_for_anyone=True, now=now),
        caller=caller,
        proof=proof,
        receipt_token=receipt_token,
        check_claim=partial(check_claim, order, purchase),
        now=now,
    )
    try:
        if record(order, receipt.payment, now=now):
            return receipt
    except DatabaseError as error:
        # The next request, or `reconcile`, records it.
        raise SettlementPending from error
    raise OrderNotPayable(refund=Payment(pk=receipt.payment).public_id)


def check_claim(order: Order, purchase: Purchase, claim: Payment) -> None:
    """Raise OrderNotPayable, or OtherPaymentPending, in the transaction that claims a payment.

    Claims for one order wait for each other, and for what changes the order: one payment at a time is settled.
    """
    order = Order.objects.select_related("venue").select_for_update(of=["self"], no_key=True).get(pk=order.pk)
    if not is_payable(order):
        raise OrderNotPayable
    if any(pending.pk != claim.pk for pending in list_pending(purchase)):
        raise OtherPaymentPending


def record(order: Order, payment: UUID, *, now: datetime) -> bool:
    """Record that a settled payment has paid the order; False if it cannot, and then its refund is due."""
    with transaction.atomic():
        # The row of the order first, as a cancellation does.
        if commands.mark_paid(order, payment, now=now):
            if deliver(payment, now=now):
                return True
            transaction.set_rollback(True)
    order.refresh()
    if order.usdc_payment == payment:
        return order.payment_state == State.PAID
    refund_undelivered(payment, message="The order is paid already, cancelled, or over.", by="orders")
    return False


def give_back(order: Order, actor: str) -> None:
    """Mark the payment of an order refund due, in the transaction that cancels it. Three statements."""
    if order.usdc_payment is not None:
        mark_refund_due(order.usdc_payment, reason=Payment.RefundReason.ORDER_CANCELLED, by=actor)


def reconcile(*, now: datetime) -> None:
    """Record payments whose request died, and which refunds of orders are due or were sent.

    Any number may run at once, and an order that fails does not stop the others. Four queries, and about six for each
    order that is found.
    """
    settled = Payment.objects.undelivered(before=now - CLAIM_TIMEOUT).filter(products__contains=[Payment.ORDER])
    for payment in settled.order_by("settled_at", "pk")[:BATCH_SIZE]:
        with logged_failure(payment):
            order = orders().with_public_id(payment.purchase).first()
            if order is not None:
                record(order, payment.pk, now=now)
    due = Payment.objects.filter(state=Payment.State.REFUND_DUE, products__contains=[Payment.ORDER])
    # Staff of this installation have refunded it as goodwill, or have withdrawn a refund that was not sent.
    unaware = orders().filter(payment_state__in=[State.PAID, State.REFUNDED], usdc_payment__in=due.values("pk"))
    for order in unaware.order_by("updated_at", "pk")[:BATCH_SIZE]:
        with logged_failure(order):
            commands.mark_payment_returned(order, State.REFUND_DUE, now=now)
    awaiting = Order.objects.filter(payment_state=State.REFUND_DUE).values("usdc_payment")
    # Perhaps the chain has shown only now that the money had arrived.
    has_arrived = Q(state__in=Payment.EARNED) & (Q(block__isnull=False) | Q(error=""))
    changed = Payment.objects.filter(Q(state=Payment.State.REFUNDED) | has_arrived, pk__in=awaiting)
    states = dict(changed.order_by("settled_at", "pk").values_list("pk", "state")[:BATCH_SIZE])
    for order in orders().filter(usdc_payment__in=list(states)):
        with logged_failure(order):
            if order.usdc_payment and states[order.usdc_payment] == Payment.State.REFUNDED:
                commands.mark_payment_returned(order, State.REFUNDED, now=now)
            else:
                give_back(order, "system")


@contextmanager
def logged_failure(row: Payment | Order) -> Iterator[None]:
    try:
        yield
    except Exception:
        logger.exception("%s was not reconciled", row.public_id)


def find_closure_blocker(account: Account, now: datetime) -> str | None:
    """Return why an account cannot be closed: guests have paid orders that are not handed over."""
    paid = Order.objects.filter(venue__account=account, status=Order.Status.PENDING, payment_state=State.PAID)
    number = paid.count()
    return f"Open orders that guests have paid in USDC: {number}. Complete or cancel them first." if number else None


def orders() -> Orders:
    return Order.objects.select_related("venue")


def erase_refund_requests(venue: Venue, contacts: Collection[str]) -> None:
    """Erase what a guest wrote when they asked for the money of an order back. One statement."""
    orders = Order.objects.of(venue).annotate(email=Lower("contact_email"))
    found = orders.filter(Q(contact_phone__in=contacts) | Q(email__in=contacts), usdc_payment__isnull=False)
    erase_refund_texts(Payment.objects.filter(pk__in=found.values("usdc_payment")))
