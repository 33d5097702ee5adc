"""Places, moves, reopens and readdresses orders: each with its event, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.db import connection, transaction
from django.db.models import prefetch_related_objects

from accounts import events
from accounts.models import EventType, Venue
from orders import pricing
from orders import record as written
from orders.choosing import choose
from orders.models import MenuItem, Order, OrderItem, lines_in_order

# One way to the database and back; the record of the event is whole but for the number, which is known only here. The
# foreign key of the lines is checked at the commit, when the order is there.
PLACE = f"""
WITH counted AS (
    INSERT INTO orders_ordernumber AS before (venue_id, business_date, last) VALUES (%(venue)s, %(day)s, 1)
    ON CONFLICT (venue_id, business_date) DO UPDATE SET last = before.last + 1 RETURNING last
), placed AS (
    INSERT INTO orders_order (id, venue_id, number, business_date, status, customer_id, delivery_address,
        payment_method, currency, subtotal, tax, total, metadata, version, created_at, updated_at, cancelled_because)
    SELECT %(subject)s, %(venue)s, counted.last, %(day)s, %(status)s, %(customer)s, %(address)s,
        %(payment_method)s, %(currency)s, %(subtotal)s, %(tax)s, %(total)s, %(metadata)s::jsonb, %(version)s, %(now)s,
        %(now)s, %(because)s
    FROM counted
), line AS (
    INSERT INTO orders_orderitem
        (order_id, position, menu_item_id, name, quantity, notes, unit_price, tax_percent, line_total)
    SELECT %(subject)s, given.position, given.ref, given.name, given.quantity, given.notes, given.unit_price,
        given.tax_percent, given.line_total
    FROM jsonb_to_recordset(%(lines)s::jsonb) AS given (position int, ref text, name text, quantity int, notes text,
        unit_price numeric, tax_percent numeric, line_total numeric)
    RETURNING id, position
), {events.parts(record="%(record)s::jsonb || jsonb_build_object('number', counted.last)", source="FROM counted")}
SELECT counted.last, (SELECT array_agg(id ORDER BY position) FROM line), (SELECT count(*) FROM delivery) FROM counted
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
) -> Order:
    """Store an order with its lines, its event and the next number of the venue's day, in one statement.

    `items` are {menu_item_id, quantity, notes}. Where the venue has a published menu, names and prices are taken from
    it as they are just before, by another statement, and stay on the order: an item that was sold out before is
    refused, and a change that comes between that moment and the commit is for the orders after this one. Raises
    InvalidRequest (see orders.choosing.choose).

    From the number to the commit all other orders of this venue wait.
    """
    order = Order(
        venue=venue,
        business_date=now.astimezone(ZoneInfo(venue.timezone)).date(),
        customer_id=customer_id,
        delivery_address=delivery_address,
        payment_method=payment_method,
        currency=venue.currency,
        metadata=dict(metadata or {}),
        created_at=now,
        updated_at=now,
    )
    lines = [OrderItem(order=order, position=position, **item) for position, item in enumerate(items)]
    refs = [line.menu_item_id for line in lines]
    chosen = choose(venue, refs=refs, payment_method=payment_method, now=now)
    if chosen is not None:
        price(order, lines, chosen)
    with connection.cursor() as cursor:
        cursor.execute(PLACE, _values(order, lines, actor=actor, now=now))
        ((order.number, keys, deliveries),) = cursor.fetchall()
    for line, key in zip(lines, keys, strict=True):
        line.pk = key
    for row in (order, *lines):
        row._state.adding = False  # noqa: SLF001  # as save() does
    order._prefetched_objects_cache = {"items": lines}  # type: ignore[attr-defined]  # noqa: SLF001  # what prefetch_related fills
    events.ring(deliveries)
    return order


def _values(order: Order, lines: Sequence[OrderItem], *, actor: str, now: datetime) -> dict[str, Any]:
    return {
        **events.values(
            EventType.ORDER_CREATED,
            venue=order.venue_id,
            record=written.of(order, lines),
            subject=order.pk,
            actor=actor,
            now=now,
        ),
        "day": order.business_date,
        "status": order.status,
        "customer": order.customer_id,
        "address": order.delivery_address,
        "payment_method": order.payment_method,
        "currency": order.currency,
        "subtotal": order.subtotal,
        "tax": order.tax,
        "total": order.total,
        "metadata": orjson.dumps(order.metadata).decode(),
        "version": order.version,
        "because": order.cancelled_because,
        "lines": orjson.dumps([_line(line) for line in lines], default=str).decode(),
    }


def _line(line: OrderItem) -> dict[str, Any]:
    return {
        "position": line.position,
        "ref": line.menu_item_id,
        "name": line.name,
        "quantity": line.quantity,
        "notes": line.notes,
        "unit_price": line.unit_price,
        "tax_percent": line.tax_percent,
        "line_total": line.line_total,
    }


def price(order: Order, lines: Sequence[OrderItem], chosen: Sequence[MenuItem]) -> None:
    """Write the names and prices of what was chosen on the lines, and what they come to on the order."""
    bill = pricing.bill(
        [
            pricing.Line(unit_price=item.price, quantity=line.quantity, tax_percent=item.tax_percent)
            for line, item in zip(lines, chosen, strict=True)
        ],
        currency=order.currency,
        prices_include_tax=order.venue.prices_include_tax,
    )
    for line, item, its in zip(lines, chosen, bill.lines, strict=True):
        line.name, line.tax_percent = item.name, item.tax_percent
        line.unit_price, line.line_total = its.unit_price, its.total
    order.subtotal, order.tax, order.total = bill.subtotal, bill.tax, bill.total


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
    events.record(order.venue, kind, record=written.of(order), subject=order.pk, actor=actor, now=now)
