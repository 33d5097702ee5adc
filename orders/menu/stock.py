"""The stock of dishes: each order takes its portions, a cancelled one gives them back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q, QuerySet

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from framework.timezones import zone
from orders.menu import editing
from orders.menu.documents import annotate_groups, serialize_item
from orders.menu.selection import describe_stock
from orders.models import Menu, MenuItem

# The rows are locked in one order, so that two orders of the same dishes do not deadlock.
CHANGE = """
WITH changed AS (
    SELECT item.id, portions.count::int FROM orders_menuitem AS item
    JOIN jsonb_each_text(%(portions)s::jsonb) AS portions (key, count) ON {match}
    WHERE item.stock IS NOT NULL ORDER BY item.id FOR NO KEY UPDATE OF item
)
UPDATE orders_menuitem AS item SET stock = item.stock {operation} changed.count FROM changed
WHERE item.id = changed.id {condition} RETURNING item.id::text, item.ref, item.stock
"""
TAKE = CHANGE.format(
    match="item.menu_id = %(menu)s AND portions.key = item.ref",
    operation="-",
    condition="AND item.stock >= changed.count",
)
GIVE_BACK = CHANGE.format(match="portions.key::uuid = item.id", operation="+", condition="")


def take_portions(
    venue: Venue, menu: UUID, portions: Mapping[str, int], *, actor: str, now: datetime
) -> dict[str, int]:
    """Take the portions by dish id, in the transaction of the order; return those taken, by the keys of the rows.

    A dish without portions left is an event. Raises InvalidRequest if another order has taken them in between.
    """
    rows = prepared_statements.execute_returning(TAKE, {"menu": menu, "portions": orjson.dumps(portions).decode()})
    missing = portions.keys() - {ref for _, ref, _ in rows}
    stocks = MenuItem.objects.filter(menu=menu, ref__in=missing, stock__isnull=False) if missing else ()
    # Others are not counted any more: there is nothing to take.
    if problems := [Problem("items", describe_stock(item.ref, item.stock or 0)) for item in stocks]:
        raise invalid_request(problems)
    if sold_out := [key for key, _, left in rows if left == 0]:
        record_sold_out(MenuItem.objects.filter(pk__in=sold_out), actor=actor, now=now)
    return {key: portions[ref] for key, ref, _ in rows}


def give_portions_back(portions: Mapping[str, int], *, actor: str, now: datetime) -> None:
    """Add portions that an order took to the stock of the dishes that are still counted.

    If that ends that a dish is sold out, it is an update of its menu.
    """
    if not portions:
        return
    rows = prepared_statements.execute_returning(GIVE_BACK, {"portions": orjson.dumps(portions).decode()})
    if returned := [key for key, _, left in rows if left == portions[key]]:
        editing.record_updated(Menu.objects.select_related("venue").get(items=returned[0]), actor=actor, now=now)


@contextmanager
def recording_sold_out(items: QuerySet[MenuItem], *, actor: str, now: datetime) -> Iterator[None]:
    """Store `menu.item_sold_out` for each of these dishes that the block makes sold out, in its transaction.

    They must be locked: an order that takes the last portion stores the event itself.
    """
    before = {item.pk for item in find_sold_out(items, now=now)}
    yield
    record_sold_out(items.exclude(pk__in=before), actor=actor, now=now)


def find_sold_out(items: QuerySet[MenuItem], *, now: datetime) -> list[MenuItem]:
    """Return those of the dishes that are sold out."""
    rows = items.filter(Q(stock=0) | Q(sold_out_on__isnull=False) | Q(sold_out_until__gt=now))
    found = annotate_groups(rows).select_related("menu__venue")
    return [item for item in found if item.is_sold_out(now.astimezone(zone(item.menu.venue.timezone)))]


def record_sold_out(items: QuerySet[MenuItem], *, actor: str, now: datetime) -> None:
    """Store the event of each of these dishes that is sold out, in the transaction of the change.

    One statement for the events of a venue.
    """
    records: dict[Venue, dict[UUID, dict[str, Any]]] = {}
    for item in find_sold_out(items, now=now):
        venue = item.menu.venue
        records.setdefault(venue, {})[item.pk] = serialize_item(item, venue, now=now)
    for venue, of_venue in records.items():
        outbox.record_events(venue, EventType.MENU_ITEM_SOLD_OUT, of_venue, actor=actor, now=now)
