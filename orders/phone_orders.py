"""Orders that the venue's staff enter during a phone call: dish search, quote, and one order per form."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from accounts import idempotency
from accounts.models import IdempotentCall, Venue
from framework.api.error_handler import flatten_detail, invalid_request
from orders import commands
from orders.models import ItemModifierGroup, Menu, MenuItem, Order
from orders.quotes import price_order
from orders.serializers import NewOrder

MAX_DISHES = 40


def search_dishes(menu: Menu, *, query: str) -> tuple[list[MenuItem], int]:
    """Return the first dishes of the menu that match, and the number of matches. Two queries."""
    found = menu.items.select_related("category")
    if query:
        found = found.filter(Q(name__icontains=query) | Q(ref__icontains=query) | Q(category__name__icontains=query))
    rows = found.order_by("category__position", "category__name", "position", "name", "pk")
    return list(rows[:MAX_DISHES]), found.count()


def find_dishes_with_groups(menu: Menu, refs: Sequence[str]) -> set[str]:
    """Return which of these dishes ask questions. One query."""
    asking = ItemModifierGroup.objects.filter(menu=menu, item__ref__in=[ref.replace("\0", "") for ref in refs])
    return set(asking.values_list("item__ref", flat=True))


def quote(venue: Venue, *, items: Sequence[Mapping[str, Any]], delivery_address: str | None = None) -> Order:
    """Return an unsaved order with these items (orders.quotes.price_order)."""
    order = Order(venue=venue, currency=venue.currency, delivery_address=delivery_address)
    price_order(order, items)
    return order


def place_order(venue: Venue, *, now: datetime, actor: str, token: str, body: Mapping[str, Any]) -> str:
    """Place the order of a form, once however often the form is submitted; return its public id.

    `token` identifies the form, `body` has the shape of `POST /orders`. Raises InvalidRequest with every problem, and
    IdempotencyKeyReused if the form placed a different order before.
    """
    shape = NewOrder(data=dict(body))
    if not shape.is_valid():
        raise invalid_request(list(flatten_detail(shape.errors)))
    call = idempotency.IdempotentRequest(
        scope=f"phone-{venue.pk.hex}",
        key=token,
        operation="phone order",
        body_sha256=hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest(),
        key_name="form",
    )

    def effect() -> idempotency.StoredResponse:
        record = commands.place_order(venue, now=now, actor=actor, **shape.validated_data)
        return idempotency.StoredResponse(body=record["id"].encode(), status=201)

    return idempotency.run_once(call, effect).body.decode()


def find_placed_order(venue: Venue, token: str) -> Order | None:
    """Return the order that the form with this token placed, or None."""
    row = IdempotentCall.objects.filter(scope=f"phone-{venue.pk.hex}", key=token).first()
    return Order.objects.of(venue).with_public_id(bytes(row.body).decode()).first() if row and row.body else None
