"""Places, moves, reopens and readdresses orders: each with its event, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import prefetch_related_objects

from accounts import events
from accounts.models import EventType, Venue
from orders import pricing
from orders.choosing import choose
from orders.models import MenuItem, Order, OrderItem, OrderNumber, lines_in_order
from orders.serializers import OrderRecord


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
    """Store an order with its lines and give it the next number of the venue's day, in one transaction.

    `items` are {menu_item_id, quantity, notes}. Where the venue has a published menu, names and prices are taken from
    it as they are when the transaction reads it, and stay on the order: an item that was sold out before is refused,
    and a change that comes between that moment and the commit is for the orders after this one. Raises InvalidRequest
    (see orders.choosing.choose).

    The number comes late, because from there to the commit all other orders of this venue wait.
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
    with transaction.atomic():
        refs = [line.menu_item_id for line in lines]
        chosen = choose(venue, refs=refs, payment_method=payment_method, now=now)
        if chosen is not None:
            price(order, lines, chosen)
        # The foreign key is checked at the commit, when the order is there.
        OrderItem.objects.bulk_create(lines)
        order.number = OrderNumber.next_of(order)
        order.save(force_insert=True)
        order._prefetched_objects_cache = {"items": lines}  # type: ignore[attr-defined]  # noqa: SLF001  # what prefetch_related fills
        record(order, EventType.ORDER_CREATED, actor=actor, now=now)
    return order


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
    events.record(order.venue, kind, record=OrderRecord(order).data, subject=order.pk, actor=actor, now=now)
