"""Places and moves orders: the rows, the number and the event, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction

from accounts import events
from accounts.models import EventType, Venue
from orders.models import Order, OrderItem, OrderNumber
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

    `items` are {menu_item_id, quantity, notes}. The number comes late, because from there to the commit all other
    orders of this venue wait.
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
        # The foreign key is checked at the commit, when the order is there.
        OrderItem.objects.bulk_create(lines)
        order.number = OrderNumber.next_of(order)
        order.save(force_insert=True)
        order._prefetched_objects_cache = {"items": lines}  # type: ignore[attr-defined]  # noqa: SLF001  # what prefetch_related fills
        record(order, EventType.ORDER_CREATED, actor=actor, now=now)
    return order


def move(order: Order, status: str, *, now: datetime, actor: str, versions: Collection[int] | None = None) -> None:
    """Complete or cancel a pending order. Raises VersionConflict, IllegalMove (see Order.move_to)."""
    with transaction.atomic():
        if order.move_to(status, now=now, versions=versions):
            record(order, EventType(f"order.{status}"), actor=actor, now=now)


def record(order: Order, kind: EventType, *, actor: str, now: datetime) -> None:
    """Write down what has happened to the order, as callers see it now."""
    events.record(order.venue, kind, record=OrderRecord(order).data, subject=order.pk, actor=actor, now=now)
