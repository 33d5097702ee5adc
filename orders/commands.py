"""Places, moves, reopens and readdresses orders: each with its event, in one transaction."""

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
from framework.public_ids import new_id
from orders import order_json as written
from orders import pricing
from orders.menu.selection import choose
from orders.models import MenuItem, Order, lines_in_order

# One way to the database and back. The order is stored as it is told, which is whole but for the number: that is known
# only here. The foreign key of the lines is checked at the commit, when the order is there.
PLACE = f"""
WITH counted AS (
    INSERT INTO orders_ordernumber AS before (venue_id, business_date, last) VALUES (%(venue)s, %(day)s, 1)
    ON CONFLICT (venue_id, business_date) DO UPDATE SET last = before.last + 1 RETURNING last
), placed AS (
    INSERT INTO orders_order (id, venue_id, number, business_date, status, customer_id, delivery_address,
        payment_method, currency, subtotal, tax, total, metadata, version, created_at, updated_at)
    SELECT %(subject)s, %(venue)s, counted.last, %(day)s, told.status, told.customer_id, told.delivery_address,
        told.payment_method, told.currency, told.subtotal, told.tax, told.total, told.metadata, told.version, %(now)s,
        %(now)s
    FROM counted, jsonb_to_record(%(record)s::jsonb) AS told (status text, customer_id text, delivery_address text,
        payment_method text, currency text, subtotal numeric, tax numeric, total numeric, metadata jsonb, version int)
), line AS (
    INSERT INTO orders_orderitem
        (order_id, position, menu_item_id, name, quantity, notes, unit_price, tax_percent, line_total)
    SELECT %(subject)s, told.nth - 1, told.menu_item_id, told.name, told.quantity, told.notes, told.unit_price,
        told.tax_percent::numeric, told.line_total
    FROM ROWS FROM (
        jsonb_to_recordset(%(record)s::jsonb -> 'items') AS
            (menu_item_id text, name text, quantity int, notes text, unit_price numeric, line_total numeric),
        jsonb_array_elements_text(%(tax_percents)s::jsonb)
    ) WITH ORDINALITY AS told (menu_item_id, name, quantity, notes, unit_price, line_total, tax_percent, nth)
), {outbox.parts(record="%(record)s::jsonb || jsonb_build_object('number', counted.last)", source="FROM counted")}
SELECT counted.last, (SELECT count(*) FROM delivery) FROM counted
"""  # noqa: S608  # of constants


def place(
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
    """Store an order with its lines, its event and the next number of the venue's day, in one statement; return its
    record, as callers see it. No row of a model is made: they took a sixth of the time.

    `items` are {menu_item_id, quantity, notes}. Where the venue has a published menu, names and prices are taken from
    it as they are just before, by another statement, and stay on the order: an item that was sold out before is
    refused, and a change that comes between that moment and the commit is for the orders after this one. Raises
    InvalidRequest (see orders.menu.selection.choose).

    From the number to the commit all other orders of this venue wait.
    """
    refs = [item["menu_item_id"] for item in items]
    chosen = choose(venue, refs=refs, payment_method=payment_method, now=now)
    key, day = new_id(), now.astimezone(ZoneInfo(venue.timezone)).date()
    told = written.new(
        key,
        business_date=day,
        customer_id=customer_id,
        delivery_address=delivery_address,
        payment_method=payment_method,
        currency=venue.currency,
        metadata=dict(metadata or {}),
        now=now,
        items=items,
        chosen=chosen,
        bill=None if chosen is None else bill_of(venue, [item["quantity"] for item in items], chosen),
    )
    values = outbox.values(EventType.ORDER_CREATED, venue=venue.pk, record=told, subject=key, actor=actor, now=now)
    percents = orjson.dumps([item.tax_percent for item in chosen or ()], default=str).decode()
    ((told["number"], deliveries),) = prepared_statements.execute_returning(
        PLACE, values | {"day": day, "tax_percents": percents}
    )
    outbox.enqueue_deliveries(deliveries)
    return told


def bill_of(venue: Venue, quantities: Sequence[int], chosen: Sequence[MenuItem]) -> pricing.Bill:
    """What so many of each of these come to."""
    return pricing.bill(
        [
            pricing.Line(unit_price=item.price, quantity=quantity, tax_percent=item.tax_percent)
            for quantity, item in zip(quantities, chosen, strict=True)
        ],
        currency=venue.currency,
        prices_include_tax=venue.prices_include_tax,
    )


def move(
    order: Order,
    status: str,
    *,
    now: datetime,
    actor: str,
    versions: Collection[int] | None = None,
    because: str = "",
) -> bool:
    """Complete or cancel a pending order, and say whether that changed it.

    `because` is why it is cancelled, which callers of the API are not told. Raises VersionConflict, IllegalMove (see
    Order.move_to).
    """
    with transaction.atomic():
        moved = order.move_to(status, now=now, versions=versions, because=because)
        if moved:
            record(order, EventType(f"order.{status}"), actor=actor, now=now)
    return moved


def reopen(order: Order, *, now: datetime, actor: str) -> None:
    """Take back a completion that was a mistake: for staff alone. Raises IllegalMove (see Order.reopen)."""
    with transaction.atomic():
        order.reopen(now=now)
        record(order, EventType.ORDER_REOPENED, actor=actor, now=now)


def deliver_to(order: Order, address: str | None, *, now: datetime, actor: str) -> None:
    """Change where the order goes, None for pick-up."""
    with transaction.atomic():
        order.deliver_to(address, now=now)
        record(order, EventType.ORDER_UPDATED, actor=actor, now=now)


def record(order: Order, kind: EventType, *, actor: str, now: datetime) -> None:
    """Write down what has happened to the order, as callers see it now.

    One query more for an order whose lines were not fetched, one for its venue.
    """
    prefetch_related_objects([order], lines_in_order())
    outbox.record(order.venue, kind, record=written.of(order), subject=order.pk, actor=actor, now=now)
