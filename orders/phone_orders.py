"""Orders that people of the venue write down on the phone: what can be had, what it comes to, and one order a form."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q

from accounts import idempotency
from accounts.models import IdempotentCall, Venue
from framework.api.error_handler import flatten_detail, invalid_request
from framework.django_internals import set_prefetched
from orders import commands
from orders.models import Menu, MenuItem, Order, OrderItem
from orders.serializers import NewOrder

OPERATION = "phone order"
MOST_DISHES = 40
# Labels that everybody knows (seed 000), for venues that restrict none.
WELL_KNOWN = (
    "cash",
    "card",
    "credit_card",
    "debit_card",
    "online",
    "wallet",
    "bank_transfer",
    "voucher",
    "usdc",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """What is on the menu. `why_not` says why it cannot be had now, None where it can."""

    item: MenuItem
    why_not: str | None


def menu_of(venue: Venue) -> Menu | None:
    """The menu that orders must follow, None where the venue publishes none. One query."""
    return Menu.objects.published_by(venue).first()


def dishes(menu: Menu, *, sought: str, at: datetime) -> tuple[list[Dish], int]:
    """What the menu has of this name, the first of them, and how many there are. Two queries.

    `at` is now by the venue's clock.
    """
    found = menu.items.select_related("category")
    if sought:
        found = found.filter(
            Q(name__icontains=sought) | Q(ref__icontains=sought) | Q(category__name__icontains=sought)
        )
    rows = found.order_by("category__position", "category__name", "position", "name", "pk")[:MOST_DISHES]
    return [Dish(item=item, why_not=reason(item, at)) for item in rows], found.count()


def reason(item: MenuItem, at: datetime) -> str | None:
    """Why it cannot be had now, in the words of people who look at its name."""
    if item.why_not(at) is None:
        return None
    if not item.is_available:
        return "Not available"
    if item.sold_out_on == at.date():
        return "Sold out today"
    return f"Served from {item.category.served_from:%H:%M} to {item.category.served_until:%H:%M}"


def quote(venue: Venue, menu: Menu | None, *, items: Sequence[Mapping[str, Any]]) -> Order:
    """What these items come to now, as `place` would price them: an order that is not stored.

    Items that are not on the menu have no name and no price, and then the order has no total. One query.
    """
    order = Order(venue=venue, currency=venue.currency)
    lines = [OrderItem(order=order, position=position, **item) for position, item in enumerate(items)]
    set_prefetched(order, "items", lines)
    if menu is None or not lines:
        return order
    on_menu = {item.ref: item for item in menu.items.filter(ref__in={line.menu_item_id for line in lines})}
    known = [line for line in lines if line.menu_item_id in on_menu]
    chosen = [on_menu[line.menu_item_id] for line in known]
    bill = commands.bill_of(venue, [line.quantity for line in known], chosen)
    for line, item, its in zip(known, chosen, bill.lines, strict=True):
        line.name, line.unit_price, line.line_total = item.name, its.unit_price, its.total
    order.subtotal, order.tax, order.total = bill.subtotal, bill.tax, bill.total
    if len(known) < len(lines):
        order.subtotal = order.tax = order.total = None
    return order


def place(venue: Venue, *, now: datetime, actor: str, token: str, wanted: Mapping[str, Any]) -> str:
    """Place the order that a form describes, once however often the form is sent; return its public id.

    `token` is the form's own, `wanted` has the shape of `POST /orders`. Raises InvalidRequest with every problem,
    and idempotency.Reused where the form has placed another order before.
    """
    shape = NewOrder(data=dict(wanted))
    if not shape.is_valid():
        raise invalid_request(list(flatten_detail(shape.errors)))
    call = idempotency.Call(
        scope=f"phone-{venue.pk.hex}",
        key=token,
        operation=OPERATION,
        body_sha256=hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).digest(),
        named="form",
    )

    def effect() -> idempotency.Answer:
        told = commands.place(venue, now=now, actor=actor, **shape.validated_data)
        return idempotency.Answer(body=told["id"].encode(), status=201)

    return idempotency.carried_out(call, effect).body.decode()


def placed_by(venue: Venue, token: str) -> Order | None:
    """The order that a form with this token has placed, None where there is none."""
    row = IdempotentCall.objects.filter(scope=f"phone-{venue.pk.hex}", key=token).first()
    return Order.objects.of(venue).known_as(bytes(row.body).decode()).first() if row and row.body else None


def clock(venue: Venue, *, now: datetime) -> datetime:
    """Now, by the venue's clock."""
    return now.astimezone(ZoneInfo(venue.timezone))
