"""The stock of dishes: each order takes its portions, a cancelled one gives them back."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import orjson

from accounts.models import EventType, Venue
from accounts.webhooks import outbox
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from orders.menu.documents import serialize_item
from orders.models import Menu, MenuItem, Order

# The rows are locked in one order, so that two orders of the same dishes do not wait for each other.
LOCK_AND_CHANGE = """
WITH changed AS (
    SELECT item.id, portions.count FROM orders_menuitem AS item
    JOIN jsonb_each_text(%(portions)s::jsonb) AS portions (ref, count) ON portions.ref = item.ref
    WHERE item.menu_id = %(menu)s AND item.stock IS NOT NULL
    ORDER BY item.id FOR NO KEY UPDATE OF item
)
UPDATE orders_menuitem AS item SET stock = item.stock {operation} changed.count::int FROM changed
WHERE item.id = changed.id {condition} RETURNING item.ref, item.stock
"""
TAKE = LOCK_AND_CHANGE.format(operation="-", condition="AND item.stock >= changed.count::int")
GIVE_BACK = LOCK_AND_CHANGE.format(operation="+", condition="")


def take_portions(venue: Venue, menu: UUID, portions: Mapping[str, int], *, actor: str, now: datetime) -> None:
    """Take the portions, in the transaction of the order. A dish without portions left is an event.

    Raises InvalidRequest if another order has taken them in between.
    """
    left = _change(TAKE, menu, portions)
    missing = portions.keys() - left.keys()
    stocks = dict(MenuItem.objects.filter(menu=menu, ref__in=missing).values_list("ref", "stock")) if missing else {}
    # Not counted any more: there is nothing to take.
    if problems := [
        Problem("items", f"Only {stock} of `{ref}` are left.")
        for ref, stock in sorted(stocks.items())
        if stock is not None
    ]:
        raise invalid_request(problems)
    for ref, stock in sorted(left.items()):
        if stock == 0:
            record_sold_out(venue, menu, ref, actor=actor, now=now)


def give_portions_back(order: Order) -> None:
    """Add the portions of a cancelled order to the stock of the dishes that are counted."""
    menu = Menu.objects.filter(venue=order.venue_id).first()
    if menu is None:
        return
    portions: Counter[str] = Counter()
    for line in order.items.all():
        portions[line.menu_item_id] += line.quantity
        for modifier in line.modifiers:
            for each in (modifier, *modifier["modifiers"]):
                if each["menu_item_id"]:
                    portions[each["menu_item_id"]] += line.quantity
    _change(GIVE_BACK, menu.pk, portions)


def _change(statement: str, menu: UUID, portions: Mapping[str, int]) -> dict[str, int]:
    values = {"menu": menu, "portions": orjson.dumps(dict(portions)).decode()}
    return dict(prepared_statements.execute_returning(statement, values))


def record_sold_out(venue: Venue, menu: UUID, ref: str, *, actor: str, now: datetime) -> None:
    """Store the event of a dish that is sold out, in the transaction of the change."""
    item = MenuItem.objects.get(menu=menu, ref=ref)
    outbox.record_event(
        venue,
        EventType.MENU_ITEM_SOLD_OUT,
        record=serialize_item(item, venue, now=now),
        subject=item.pk,
        actor=actor,
        now=now,
    )
