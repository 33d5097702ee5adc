"""Order commands: place, change the status, reopen, change the address. Each stores its event in its transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.db import transaction
from django.db.models import prefetch_related_objects

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.db import prepared_statements
from framework.db.sql_files import read_sql
from framework.django_internals import set_prefetched
from orders import pricing
from orders.menu.selection import choose_items
from orders.models import MenuItem, Order, OrderItem, lines_in_order
from orders.order_json import serialize_order

PLACE = read_sql("orders", "place_order").format(
    event_ctes=outbox.build_event_ctes(
        record="%(record)s::jsonb || jsonb_build_object('number', counted.last)", source="FROM counted"
    )
)


def place_order(
    venue: Venue,
    *,
    now: datetime,
    actor: str,
    customer_id: str,
    items: Sequence[Mapping[str, Any]],
    payment_method: str,
    delivery_address: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Store an order with its lines, its event and the next number of the venue's day; return its record.

    `items` are {menu_item_id, quantity, notes}. If the venue has a published menu, its names and prices are read just
    before, in another statement, and stored on the order. A menu change between that read and the commit affects only
    later orders. Raises InvalidRequest (see orders.menu.selection.choose_items).

    Two statements. From the number to the commit all other orders of this venue wait.
    """
    refs = [item["menu_item_id"] for item in items]
    menu_items = choose_items(venue, refs=refs, payment_method=payment_method, now=now)
    day = now.astimezone(ZoneInfo(venue.timezone)).date()
    order = Order(
        venue=venue,
        business_date=day,
        customer_id=customer_id,
        delivery_address=delivery_address,
        payment_method=payment_method,
        currency=venue.currency,
        metadata=dict(metadata or {}),
        created_at=now,
        updated_at=now,
    )
    set_lines(order, items, menu_items or [None] * len(items))
    record = serialize_order(order)
    values = outbox.build_event_values(
        EventType.ORDER_CREATED, venue=venue.pk, record=record, subject=order.pk, actor=actor, now=now
    )
    percents = orjson.dumps([item.tax_percent for item in menu_items or ()], default=str).decode()
    ((record["number"], deliveries),) = prepared_statements.execute_returning(
        PLACE, values | {"day": day, "tax_percents": percents}
    )
    outbox.enqueue_deliveries(deliveries)
    return record


def set_lines(order: Order, items: Sequence[Mapping[str, Any]], menu_items: Sequence[MenuItem | None]) -> None:
    """Set the unsaved lines of an order, with names, prices and totals of the menu items, as far as there are any.

    The order has totals only if all lines have prices.
    """
    lines = [OrderItem(order=order, position=position, **item) for position, item in enumerate(items)]
    priced = [(line, item) for line, item in zip(lines, menu_items, strict=True) if item is not None]
    bill = pricing.calculate_bill(
        [
            pricing.Line(unit_price=item.price, quantity=line.quantity, tax_percent=item.tax_percent)
            for line, item in priced
        ],
        currency=order.currency,
        prices_include_tax=order.venue.prices_include_tax,
    )
    for (line, item), price in zip(priced, bill.lines, strict=True):
        line.name, line.unit_price, line.line_total = item.name, price.unit_price, price.total
    if priced and len(priced) == len(lines):
        order.subtotal, order.tax, order.total = bill.subtotal, bill.tax, bill.total
    set_prefetched(order, "items", lines)


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
        changed = order.change_status(status, now=now, versions=versions, because=because, param=param)
        if changed:
            record_order_event(order, EventType(f"order.{status}"), actor=actor, now=now)
    return changed


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


def change_delivery_address(order: Order, address: str | None, *, now: datetime, actor: str) -> None:
    """Change the delivery address; None for pick-up."""
    with transaction.atomic():
        order.change_delivery_address(address, now=now)
        record_order_event(order, EventType.ORDER_UPDATED, actor=actor, now=now)


def record_order_event(order: Order, kind: EventType, *, actor: str, now: datetime) -> None:
    """Store an event with the current record. One query more if the lines, and one if the venue, were not fetched."""
    prefetch_related_objects([order], lines_in_order())
    outbox.record_event(order.venue, kind, record=serialize_order(order), subject=order.pk, actor=actor, now=now)
