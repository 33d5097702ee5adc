"""The stock of dishes: each order takes its portions, a cancelled one gives them back."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import orjson

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from orders.menu.documents import items_with_groups, serialize_item
from orders.menu.selection import describe_stock
from orders.models import MenuItem

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
    for key, _, left in rows:
        if left == 0:
            record_sold_out(key, venue, actor=actor, now=now)
    return {key: portions[ref] for key, ref, _ in rows}


def give_portions_back(portions: Mapping[str, int]) -> None:
    """Add portions that an order took to the stock of the dishes that are still counted."""
    if portions:
        prepared_statements.execute_returning(GIVE_BACK, {"portions": orjson.dumps(portions).decode()})


def record_sold_out(key: UUID | str, venue: Venue, *, actor: str, now: datetime) -> None:
    """Store the event of the dish with this key, which is sold out, in the transaction of the change."""
    item = items_with_groups().get(pk=key)
    outbox.record_event(
        venue,
        EventType.MENU_ITEM_SOLD_OUT,
        record=serialize_item(item, venue, now=now),
        subject=item.pk,
        actor=actor,
        now=now,
    )
