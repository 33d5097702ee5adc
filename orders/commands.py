"""Order commands: place, change the status, reopen, change the address. Each stores its event in its transaction."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from decimal import Decimal
from itertools import zip_longest
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
from django.db import transaction
from django.db.models import prefetch_related_objects

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.db import prepared_statements
from framework.db.sql_files import read_sql
from framework.django_internals import set_prefetched
from framework.errors import InvalidRequest
from orders import capacity, pricing
from orders.menu import stock
from orders.menu.modifiers import ChosenModifier
from orders.menu.selection import ChargeTerms, select
from orders.models import Fulfilment, MenuItem, Order, OrderItem, lines_in_order
from orders.order_json import serialize_order

PLACE = read_sql("orders", "place_order").format(
    event_ctes=outbox.build_event_ctes(
        record="%(record)s::jsonb || jsonb_build_object('number', counted.last)", source="FROM counted"
    )
)


# Called in the transaction that cancels a paid order, with the actor. catalogue.apps registers it.
REFUND_PAYMENT: list[Callable[[Order, str], None]] = []


class TotalChanged(InvalidRequest):
    """The order costs something else than the guest has seen."""


def place_order(
    venue: Venue,
    *,
    now: datetime,
    actor: str,
    customer_id: str,
    items: Sequence[Mapping[str, Any]],
    payment_method: str,
    delivery_address: str | None = None,
    fulfilment: Mapping[str, Any] | None = None,
    tip: Decimal | None = None,
    channel: str | None = None,
    metadata: Mapping[str, str] | None = None,
    usdc_price: Decimal | None = None,
    expected_total: Decimal | None = None,
) -> dict[str, Any]:
    """Store an order with its lines, its event and the next number of the venue's day; return its record.

    `items` are {menu_item_id, quantity, notes, modifiers}, `fulfilment` is {type, requested_at, table, contact}. If
    the venue has a published menu, its names and prices are read just before, in another statement, and stored on the
    order. A menu change between that read and the commit affects only later orders. With the price of one USDC the
    order can be paid in USDC. `expected_total` is what the guest has seen, without the tip.

    Raises InvalidRequest (see orders.menu.selection.select), SlotUnavailable (see orders.capacity.promise), and
    TotalChanged for another total than expected.

    Two statements; more if dishes have modifiers or are counted, or if the kitchen has a capacity. From the number to
    the commit all other orders of this venue wait.
    """
    fulfilment = fulfilment or {}
    requested_at, contact = fulfilment.get("requested_at"), fulfilment.get("contact") or {}
    if requested_at is not None:
        capacity.check_requested_time(venue, requested_at, now=now)
    if message := pricing.find_decimals_error(tip, venue.currency):
        raise InvalidRequest(message, param="tip")
    selection = select(venue, items=items, payment_method=payment_method, at=requested_at or now)
    day = now.astimezone(ZoneInfo(venue.timezone)).date()
    order = Order(
        venue=venue,
        business_date=day,
        customer_id=customer_id,
        delivery_address=delivery_address,
        is_dine_in=fulfilment.get("type") == Fulfilment.DINE_IN,
        table=fulfilment.get("table") or "",
        **{f"contact_{name}": contact.get(name) or "" for name in ("name", "phone", "email")},
        requested_at=requested_at,
        channel=channel,
        payment_method=payment_method,
        currency=venue.currency,
        tip=tip,
        metadata=dict(metadata or {}),
        created_at=now,
        updated_at=now,
    )
    set_lines(order, items, selection.items or [None] * len(items), selection.modifiers)
    set_totals(order, selection.terms.charges_of(order.fulfilment))
    if expected_total is not None and (order.total is None or order.total - (tip or 0) != expected_total):
        raise TotalChanged("The prices have changed since the guest has seen the total.", param="expected_total")
    if usdc_price is not None and order.total:
        order.usdc_amount = pricing.convert_to_usdc(order.total, price=usdc_price)
        order.payment_state = Order.PaymentState.DUE if order.usdc_amount else ""
    takes_several_statements = selection.portions or selection.terms.orders_per_slot
    with transaction.atomic() if takes_several_statements else nullcontext():
        order.promised_at, order.slot = capacity.promise(
            venue,
            selection.terms,
            prep_minutes=selection.prep_minutes,
            requested_at=requested_at,
            now=now,
        )
        if selection.menu and selection.portions:
            order.portions = stock.take_portions(venue, selection.menu, selection.portions, actor=actor, now=now)
        return store(order, actor=actor)


def store(order: Order, *, actor: str) -> dict[str, Any]:
    """Store a new order with its lines and its event; return its record with the number. One statement."""
    record = serialize_order(order)
    values = outbox.build_event_values(
        EventType.ORDER_CREATED,
        venue=order.venue_id,
        record=record,
        subject=order.pk,
        actor=actor,
        now=order.created_at,
    )
    columns = {
        "is_dine_in": order.is_dine_in,
        "table": order.table,
        **{f"contact_{name}": getattr(order, f"contact_{name}") for name in ("name", "phone", "email")},
        "requested_at": order.requested_at,
        "promised_at": order.promised_at,
        "slot": order.slot,
        "portions": order.portions,
        "usdc_amount": order.usdc_amount,
        "payment_state": order.payment_state,
    }
    lines = [{"tax_percent": line.tax_percent, "station": line.station} for line in order.items.all()]
    values |= {"day": order.business_date, "columns": dump(columns), "lines": dump(lines)}
    ((record["number"], deliveries),) = prepared_statements.execute_returning(PLACE, values)
    outbox.enqueue_deliveries(deliveries)
    return record


def dump(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()


def set_lines(
    order: Order,
    items: Sequence[Mapping[str, Any]],
    menu_items: Sequence[MenuItem | None],
    modifiers: Sequence[Sequence[ChosenModifier]] = (),
) -> None:
    """Set the unsaved lines of an order, with what the menu says of its items, as far as they are on it."""
    lines = []
    for position, (item, menu_item, chosen) in enumerate(zip_longest(items, menu_items, modifiers)):
        line = OrderItem(
            order=order,
            position=position,
            menu_item_id=item["menu_item_id"],
            quantity=item["quantity"],
            notes=item.get("notes", ""),
            modifiers=[serialize_modifier(each, order.currency) for each in chosen or ()],
        )
        if menu_item is not None:
            line.name, line.unit_price, line.station = menu_item.name, menu_item.price, menu_item.station
            line.tax_percent = menu_item.get_tax_percent(order.fulfilment)
        lines.append(line)
    set_prefetched(order, "items", lines)


def serialize_modifier(modifier: ChosenModifier, currency: str) -> dict[str, Any]:
    """Return the modifier as it is stored on the line and shown in its record."""

    def serialize(each: ChosenModifier) -> dict[str, Any]:
        price = pricing.format_if_priced(each.price, currency)
        return {"id": each.ref, "name": each.name, "price": price, "menu_item_id": each.item_ref}

    return serialize(modifier) | {"modifiers": [serialize(each) for each in modifier.modifiers]}


def set_totals(order: Order, charges: Sequence[ChargeTerms] = ()) -> None:
    """Price the lines of an unsaved order, whose `unit_price` is that of the menu; add the charges.

    The order has charges and totals only if all lines have prices.
    """
    lines = list(order.items.all())
    priced = [line for line in lines if line.unit_price is not None]
    is_complete = bool(priced) and len(priced) == len(lines)
    bill = pricing.calculate_bill(
        [
            pricing.Line(
                unit_price=line.unit_price or Decimal(0),
                quantity=line.quantity,
                tax_percent=line.tax_percent or Decimal(0),
                modifiers=[Decimal(each["price"]) for each in line.all_modifiers],
            )
            for line in priced
        ],
        currency=order.currency,
        prices_include_tax=order.venue.prices_include_tax,
        charges=[each.charge for each in charges] if is_complete else (),
        tip=order.tip or Decimal(0),
    )
    for line, price in zip(priced, bill.lines, strict=True):
        line.unit_price, line.line_total = price.unit_price, price.total
    if is_complete:
        order.subtotal, order.tax, order.total = bill.subtotal, bill.tax, bill.total
        order.charges = [
            {"name": terms.name, "type": terms.type, "amount": pricing.format_amount(amount, order.currency)}
            for terms, amount in zip(charges, bill.charges, strict=True)
            if amount
        ]


def change_status(
    order: Order,
    status: str,
    *,
    now: datetime,
    actor: str,
    versions: Collection[int] | None = None,
    because: str = "",
    param: str = "status",
) -> bool:
    """Complete or cancel a pending order; return whether that changed it.

    `because` is the reason of a cancellation, which the API does not return. Raises VersionConflict,
    InvalidTransition (see Order.change_status).
    """
    with transaction.atomic():
        if status == Order.Status.CANCELLED and (order.slot or order.portions):
            give_back(order, actor=actor, now=now)
        changed = order.change_status(status, now=now, versions=versions, because=because, param=param)
        if changed and order.payment_state == Order.PaymentState.REFUND_DUE:
            for refund in REFUND_PAYMENT:
                refund(order, actor)
        if changed:
            record_order_event(order, EventType(f"order.{status}"), actor=actor, now=now)
    return changed


def give_back(order: Order, *, actor: str, now: datetime) -> None:
    """Give back what a pending order took: its place in a slot, and its portions if the kitchen has not begun.

    Before the order is cancelled, in the same transaction: the count of the orders, which the change locks, is locked
    after slots and dishes, as by `place_order`.
    """
    pending = Order.objects.select_for_update(no_key=True).filter(pk=order.pk, status=Order.Status.PENDING)
    # From the locked row: completed and reopened since it was read, the order has nothing left to give back.
    for stage, slot, portions in pending.values_list("kitchen_stage", "slot", "portions"):
        if slot:
            capacity.release_slot(order.venue_id, slot)
        if stage in (Order.Stage.RECEIVED, Order.Stage.ACCEPTED):
            stock.give_portions_back(portions, actor=actor, now=now)


def change_stage(
    order: Order,
    stage: str,
    *,
    now: datetime,
    actor: str,
    versions: Collection[int] | None = None,
    moves_back: bool = False,
) -> bool:
    """Move a pending order to a stage of the kitchen; return whether that changed it. `handed_over` completes it.

    Only the staff move a stage back, with `moves_back`. Raises VersionConflict, InvalidTransition.
    """
    if stage == Order.Stage.HANDED_OVER:
        return change_status(order, Order.Status.COMPLETED, now=now, actor=actor, versions=versions, param="stage")
    with transaction.atomic():
        changed = order.change_stage(stage, now=now, versions=versions, moves_back=moves_back)
        if changed:
            record_order_event(order, EventType.ORDER_STAGE_CHANGED, actor=actor, now=now)
    return changed


def reopen_order(order: Order, *, now: datetime, actor: str) -> None:
    """Make a completed order pending again; for staff only. Raises InvalidTransition (see Order.reopen)."""
    with transaction.atomic():
        order.reopen(now=now)
        record_order_event(order, EventType.ORDER_REOPENED, actor=actor, now=now)


def mark_paid(order: Order, payment: UUID, *, now: datetime) -> bool:
    """Record that this payment of the ledger has paid the order; False if it is not due. Call it in a transaction."""
    state = Order.PaymentState
    if not order.change_payment_state(state.PAID, before=state.DUE, payment=payment, now=now):
        return False
    record_order_event(order, EventType.ORDER_UPDATED, actor="guest", now=now)
    return True


def mark_payment_returned(order: Order, state: str, *, now: datetime) -> bool:
    """Record that the refund of a payment is due or was sent; False if another process has changed the order."""
    with transaction.atomic():
        changed = order.change_payment_state(state, before=order.payment_state, now=now)
        if changed:
            record_order_event(order, EventType.ORDER_UPDATED, actor="system", now=now)
    return changed


def change_delivery_address(order: Order, address: str | None, *, now: datetime, actor: str) -> None:
    """Change the delivery address; None for pick-up. Prices stay. Raises InvalidRequest for an order at a table."""
    with transaction.atomic():
        order.change_delivery_address(address, now=now)
        record_order_event(order, EventType.ORDER_UPDATED, actor=actor, now=now)


def record_order_event(order: Order, kind: EventType, *, actor: str, now: datetime) -> None:
    """Store an event with the current record. One query more if the lines, and one if the venue, were not fetched."""
    prefetch_related_objects([order], lines_in_order())
    outbox.record_event(order.venue, kind, record=serialize_order(order), subject=order.pk, actor=actor, now=now)
