"""Completes checkout sessions: the order is placed once, and a payment in USDC settled once.

    open -> completed               the guest pays at the venue
    open -> placed -> completed     a signed payment was settled
    open -> placed -> open          it was refused: the order is cancelled, and the session can be completed again
    placed -> canceled              the venue has cancelled the order meanwhile

Each arrow is one transaction that locks the session, and the order is placed in the one that leaves `open`. So of two
requests one places the order, and one that dies leaves a session that the next request, or `finish_placed`, continues.
The payment is that of an order of the ordering page (catalogue.order_payments).
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from accounts.models import Venue
from catalogue.order_payments import payment as order_payment
from catalogue.ucp import handlers
from catalogue.ucp.negotiation import Agent
from catalogue.ucp.protocol import Message, ProtocolError, error_message, not_found, warning_message
from catalogue.ucp.requests import Instrument, invalid
from catalogue.ucp.responses import build_checkout, build_placed
from catalogue.ucp.sessions import Assessment
from framework.errors import ApiError, InvalidRequest, ServiceUnavailable
from framework.public_ids import decode
from orders import commands
from orders.capacity import SlotUnavailable
from orders.models import CheckoutSession, Fulfilment, Order
from orders.models.orders import PREFIX as ORDER
from orders.ordering_page import online_orders
from orders.ordering_page.checkout import list_payments
from payments.interface import (
    Authorization,
    Caller,
    InvalidPayment,
    PaymentRequired,
    SettlementPending,
    check_authorization,
    find_presented,
    fixed_price,
    list_pending,
    parse_proof_field,
)
from payments.models import Payment

logger = logging.getLogger("tablewire.worker")

State = CheckoutSession.State
INSTRUMENTS = "$.payment.instruments"
# A request that settles has ended by then.
ABANDONED_AFTER = timedelta(minutes=2)
BATCH_SIZE = 100


# Of the ordering page; all others are wrong requests.
REFUSALS: tuple[type[ApiError], ...] = (
    InvalidRequest,
    SlotUnavailable,
    online_orders.TooManyOrders,
    online_orders.PagePaused,
    online_orders.TooManyWaiting,
    online_orders.OutsideOpeningHours,
)


class PriceChanged(ApiError):
    """The order costs something else in USDC than the agent was told."""


class PaymentUsed(ApiError):
    """The payment stands in the ledger for something else."""

    def __init__(self) -> None:
        super().__init__("This payment was used before. Sign a new one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A request that completes a session. `digest` identifies it; `address` is that of the caller."""

    instrument: Instrument
    agent: Agent
    caller: Caller
    address: str
    digest: str
    now: datetime


def complete(session: CheckoutSession, request: Completion) -> dict[str, Any]:
    """Place the order of a session, and settle its payment; return the checkout. Call it outside of transactions.

    What stands in the way of the order or the payment is in the messages of the answer, and then nothing was ordered
    or charged. Raises NotPossible, ProtocolError, RateLimitExceeded, ServiceUnavailable.
    """
    if session.state == State.OPEN and not session.has_expired(request.now):
        check_instrument(session.venue, request.instrument)
        proof = read_proof(request.instrument)
        assessment = Assessment.of(session, now=request.now)
        if assessment.has_changed_price():
            return tell_price(assessment, request)
        if not assessment.is_ready:
            return build_checkout(assessment, request.agent)
        try:
            if proof is not None:
                check_payment(assessment, proof, request)
            session = place(assessment, request)
        except (commands.TotalChanged, PriceChanged):
            return tell_price(Assessment.of(session, now=request.now), request)
        except REFUSALS as refusal:
            current = Assessment.of(session, now=request.now)
            known = [message for message in current.messages if message["type"] == "error"]
            return build_checkout(current, request.agent, messages=[] if known else list(current.explain(refusal)))
        except (PaymentRequired, PaymentUsed) as refusal:
            return build_checkout(assessment, request.agent, messages=[describe_refusal(refusal)])
    check_state(session, request)
    if session.state == State.PLACED:
        # Whatever the venue takes meanwhile.
        proof = read_proof(request.instrument)
        if proof is None:
            raise conflict("checkout_in_progress", "The payment of this session is being settled.")
        return settle(session, proof, request)
    return show(session, request.agent, now=request.now)


def conflict(code: str, content: str) -> ProtocolError:
    return ProtocolError(409, code, content)


def check_state(session: CheckoutSession, request: Completion) -> None:
    """Raise ProtocolError if the session was completed by another request, or cannot be completed any more."""
    if session.state == State.CANCELED or session.has_expired(request.now):
        raise conflict("checkout_canceled", "This session is canceled or has expired. Create another one.")
    if session.state == State.COMPLETED and session.completion_digest != request.digest:
        raise conflict("checkout_completed", "This session is completed. Get it to see its order.")


def check_instrument(venue: Venue, instrument: Instrument) -> None:
    """Raise NotPossible if the venue does not take this instrument."""
    if instrument.handler_id == handlers.PAY_AT_VENUE:
        if instrument.type not in list_payments(venue):
            raise invalid(
                [(INSTRUMENTS, f"The types of `{handlers.PAY_AT_VENUE}` are {', '.join(list_payments(venue))}.")]
            )
        return
    if instrument.handler_id != handlers.X402 or instrument.type != handlers.X402:
        known = f"`{handlers.X402}` and `{handlers.PAY_AT_VENUE}`"
        raise invalid([(INSTRUMENTS, f"The handlers are {known}; see `ucp.payment_handlers` of the checkout.")])
    if online_orders.find_usdc_price(venue.ordering_settings) is None:
        raise invalid([(INSTRUMENTS, f"This establishment does not take `{handlers.X402}`.")])


def read_proof(instrument: Instrument) -> Authorization | None:
    """Return the signed payment of an instrument; None if the guest pays at the venue. Raises NotPossible."""
    if instrument.handler_id != handlers.X402:
        return None
    name = f"{INSTRUMENTS}[*].credential.payment"
    try:
        proof = parse_proof_field((instrument.credential or {}).get("payment"), name=name)
    except InvalidPayment as error:
        raise invalid([(name, error.message)]) from error
    if not isinstance(proof, Authorization):
        raise invalid(
            [(name, "Sign the payment that `config.accepts` of the handler asks for, and send it nowhere else.")]
        )
    return proof


def check_payment(assessment: Assessment, proof: Authorization, request: Completion) -> None:
    """Raise what stands in the way of this payment, before the kitchen gets the order.

    Raises PaymentRequired, PaymentUsed, and NotPossible if there is nothing to pay in USDC.
    """
    if assessment.usdc is None:
        raise invalid([(INSTRUMENTS, f"This checkout has no amount in USDC. Choose `{handlers.PAY_AT_VENUE}`.")])
    purchase = handlers.purchase_of(assessment.venue, key=assessment.session.public_id)
    description = f"An order of {assessment.venue.name}."
    prices = fixed_price(Payment.ORDER, assessment.usdc, description=description, is_for_anyone=True, now=request.now)
    check_authorization(purchase, proof, prices=prices, caller=request.caller, now=request.now)
    if find_presented(proof, caller=request.caller, now=request.now) is not None:
        raise PaymentUsed


def place(assessment: Assessment, request: Completion) -> CheckoutSession:
    """Place the order of an open session, and return the session; one that is not open any more stays as it is.

    Raises TotalChanged, PriceChanged, and the errors of the ordering page. Nothing is stored then.
    """
    instrument, now = request.instrument, request.now
    is_paid_now = instrument.handler_id == handlers.X402
    chosen = {"id": instrument.id, "handler_id": instrument.handler_id, "type": instrument.type}
    with online_orders.limited_by_address(assessment.venue, request.address), transaction.atomic():
        session = lock(assessment.session)
        if session.state != State.OPEN or session.has_expired(now):
            return session
        # As it was assessed, or as a concurrent update has left it: what it costs must be what was shown of it.
        locked = Assessment(session=session, menu=assessment.menu, now=now)
        if locked.has_excessive_tip:
            raise InvalidRequest("The tip is too high.", param="tip")
        record = online_orders.place_within_limits(
            session.venue,
            values=online_orders.validate_body(build_body(locked, chosen)),
            hours=locked.hours[Fulfilment.PICKUP],
            prep_minutes=locked.quote.prep_minutes,
            expected_total=session.shown_total,
            now=now,
        )
        if is_paid_now and read_usdc(record) != session.shown_usdc:
            raise PriceChanged("The price in USDC has changed.")
        session.order_id = decode(ORDER, record["id"])
        session.state = State.PLACED if is_paid_now else State.COMPLETED
        session.completed_at = None if is_paid_now else now
        session.completion_digest = request.digest
        if not is_paid_now:
            session.content = {}
        session.content = session.content | {"instrument": chosen}
        session.updated_at = now
        session.save()
    return session


def build_body(assessment: Assessment, instrument: dict[str, str]) -> dict[str, Any]:
    """Return the body of the equivalent `POST /orders`."""
    venue, contact = assessment.venue, assessment.contact
    requested = assessment.content.get("requested_at")
    fulfilment = {
        "type": Fulfilment.PICKUP.value,
        "contact": contact,
        **({"requested_at": requested} if requested else {}),
    }
    body = {
        "customer_id": online_orders.identify_customer(venue, contact.get("phone", "")),
        "items": assessment.content["items"],
        "payment_method": handlers.choose_label(venue, instrument),
        "fulfilment": fulfilment,
        "channel": online_orders.AGENT_CHANNEL,
    }
    return body | ({"tip": f"{assessment.tip:f}"} if assessment.tip else {})


def read_usdc(record: dict[str, Any]) -> Decimal | None:
    return Decimal(record["payment"]["amount"]) if record["payment"] else None


def settle(session: CheckoutSession, proof: Authorization, request: Completion) -> dict[str, Any]:
    """Settle the payment of a placed session, and return the checkout."""
    order = find_order(session)
    messages: list[Message] = []
    try:
        order_payment.count_attempt(order)
        order_payment.pay(order, caller=request.caller, proof=proof, now=request.now)
    except (SettlementPending, order_payment.OtherPaymentPending):
        # Not known yet: the platform gets the session until it is.
        pass
    except (PaymentRequired, order_payment.OrderNotPayable) as refusal:
        messages.append(describe_refusal(refusal))
    except ServiceUnavailable as error:
        messages.append(error_message("payment_failed", error.message, path="$.payment"))
    finish(session, now=request.now, is_refused=bool(messages))
    return show(session, request.agent, now=request.now, messages=messages)


def describe_refusal(refusal: ApiError) -> Message:
    content = refusal.message
    refund = refusal.extra.get("refund") or (refusal.body_override or {}).get("refund")
    if refund:
        content += f" The refund is {refund}."
    return error_message("payment_failed", content, path="$.payment")


def finish(session: CheckoutSession, *, now: datetime, is_refused: bool) -> None:
    """Bring a placed session to what its order and payments say; `session` is up to date then.

    If the payment was refused, and no other is being settled, the order is cancelled and the session open again.
    """
    with transaction.atomic():
        locked = lock(session)
        if locked.state == State.PLACED:
            rows = Order.objects.select_for_update(of=["self"], no_key=True)
            order = rows.get(checkout_session=locked)
            order.venue = locked.venue
            if order.payment_state == Order.PaymentState.PAID:
                locked.content = {"instrument": locked.content["instrument"]}
                locked.state, locked.completed_at, locked.updated_at = State.COMPLETED, now, now
                locked.save()
            elif order.status != Order.Status.PENDING:
                cancel_row(locked, now=now)
                locked.save()
            elif is_refused and not list_pending(order_payment.purchase_of(order)):
                commands.change_status(
                    order, Order.Status.CANCELLED, now=now, actor="guest", because="The payment in USDC was refused."
                )
                locked.state, locked.order, locked.completion_digest = State.OPEN, None, ""
                locked.updated_at = now
                locked.save()
    for field in CheckoutSession._meta.concrete_fields:
        setattr(session, field.attname, getattr(locked, field.attname))


def cancel_row(session: CheckoutSession, *, now: datetime) -> None:
    """Cancel a session, without saving it. Nobody needs the contact any more."""
    session.state, session.canceled_at, session.updated_at, session.order = State.CANCELED, now, now, None
    session.content = {name: value for name, value in session.content.items() if name != "buyer"}
    session.completion_digest = ""


def cancel(session: CheckoutSession, *, now: datetime) -> None:
    """Cancel an open session. Raises ProtocolError for one that is over, or whose payment is being settled."""
    with transaction.atomic():
        locked = lock(session)
        if locked.state == State.PLACED:
            raise conflict("checkout_in_progress", "The payment of this session is being settled.")
        if locked.state == State.COMPLETED:
            raise conflict("checkout_completed", "This session is completed. The establishment can cancel its order.")
        if locked.state == State.CANCELED or locked.has_expired(now):
            raise conflict("checkout_canceled", "This session is canceled or has expired already.")
        cancel_row(locked, now=now)
        locked.save()
    session.state, session.canceled_at, session.content = locked.state, locked.canceled_at, locked.content


def show(
    session: CheckoutSession, agent: Agent, *, now: datetime, messages: list[Message] | None = None
) -> dict[str, Any]:
    """Return the checkout of a session in any state."""
    if session.order_id is not None:
        return build_placed(session, find_order(session), agent)
    assessment = Assessment.of(session, now=now)
    if not session.is_over(now):
        assessment.record_shown()
    return build_checkout(assessment, agent, messages=messages or ())


def tell_price(assessment: Assessment, request: Completion) -> dict[str, Any]:
    """Return the checkout with its new price, which the guest has to see before it is completed."""
    assessment.record_shown()
    content = "The price has changed since the guest has seen it. Show the new total, then complete again."
    warning = warning_message("totals_changed", content, path="$.totals", is_disclosure=True)
    return build_checkout(assessment, request.agent, messages=[warning])


def lock(session: CheckoutSession) -> CheckoutSession:
    """Return the locked row of a session, with its venue. Raises NotPossible if it was deleted."""
    rows = CheckoutSession.objects.with_venue().select_for_update(of=["self"], no_key=True)
    found = rows.filter(pk=session.pk).first()
    if found is None:
        raise not_found()
    return found


def find_order(session: CheckoutSession) -> Order:
    """Return the order of a session with its lines. Two queries."""
    order = Order.objects.with_items().get(checkout_session=session)
    order.venue = session.venue
    return order


def finish_placed(*, now: datetime) -> None:
    """Finish sessions whose request died, or whose payment has been settled since. Any number may run at once.

    An order whose payment nobody has sent again by then is cancelled.
    """
    placed = CheckoutSession.objects.with_venue().filter(state=State.PLACED, updated_at__lt=now - ABANDONED_AFTER)
    for session in placed.order_by("updated_at")[:BATCH_SIZE]:
        try:
            finish(session, now=now, is_refused=True)
        except Exception:
            logger.exception("the checkout of the order %s was not finished", session.order_id)
