"""Resolves the menu_item_ids of an order against the venue's menu."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import Venue
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from orders.models import MenuCategory, MenuItem

# Bounds the cost of a body with 100 unknown ids on a menu of 10,000 similar ones.
MAX_HINTS = 3
MAX_CANDIDATES = 5
# The published menu with the requested items; one row without an item if there are none.
SELECT_ITEMS = """
SELECT menu.id, item.ref, item.name, item.price, item.tax_percent, item.is_available, item.sold_out_on,
    category.served_from, category.served_until
FROM orders_menu AS menu
LEFT JOIN orders_menuitem AS item ON item.menu_id = menu.id AND item.ref = ANY(%(refs)s)
LEFT JOIN orders_menucategory AS category ON category.id = item.category_id
WHERE menu.venue_id = %(venue)s AND menu.is_published
"""
SELECT_SIMILAR = """
SELECT unknown, array(
    SELECT ref FROM orders_menuitem WHERE menu_id = %(menu)s ORDER BY similarity(ref, unknown) DESC, ref
    LIMIT %(limit)s
)
FROM unnest(%(unknown)s::text[]) AS unknown
"""


def choose_items(venue: Venue, *, refs: Sequence[str], payment_method: str, now: datetime) -> list[MenuItem] | None:
    """Return the items with these ids, in their order; None if the venue has no published menu.

    Raises InvalidRequest with every unavailable item, and with a payment label that the venue does not accept. One
    query, and another for suggestions if an id is unknown.
    """
    rows = prepared_statements.fetch_all(SELECT_ITEMS, {"venue": venue.pk, "refs": list(dict.fromkeys(refs))})
    items = {ref: _build_item(ref, *rest) for _, ref, *rest in rows if ref is not None}
    problems = list(find_problems(rows[0][0], items, refs, now.astimezone(ZoneInfo(venue.timezone)))) if rows else []
    if venue.payment_methods and payment_method not in venue.payment_methods:
        allowed = ", ".join(venue.payment_methods)
        problems.append(
            Problem("payment_method", f"This venue does not take `{payment_method}`. It takes: {allowed}.")
        )
    if problems:
        raise invalid_request(problems)
    return [items[ref] for ref in refs] if rows else None


@lru_cache(maxsize=4_096)
def _build_item(
    ref: str,
    name: str,
    price: Decimal,
    tax_percent: Decimal,
    is_available: bool,
    sold_out_on: date | None,
    served_from: time | None,
    served_until: time | None,
) -> MenuItem:
    # Cached, because creating a model instance is slow. Callers must not change it.
    return MenuItem(
        ref=ref,
        name=name,
        price=price,
        tax_percent=tax_percent,
        is_available=is_available,
        sold_out_on=sold_out_on,
        category=MenuCategory(served_from=served_from, served_until=served_until),
    )


def find_problems(menu: UUID, items: dict[str, MenuItem], refs: Sequence[str], at: datetime) -> Iterator[Problem]:
    """Yield the problem of each line whose item is unknown or unavailable; `at` is the current time at the venue."""
    unknown = dict.fromkeys(ref for ref in refs if ref not in items)
    hints = {ref: f" Did you mean `{match}`?" for ref, match in suggest(menu, list(islice(unknown, MAX_HINTS)))}
    for position, ref in enumerate(refs):
        param = f"items[{position}].menu_item_id"
        if ref not in items:
            yield Problem(param, f"There is no `{ref}` on the menu.{hints.get(ref, '')}")
        elif obstacle := items[ref].find_obstacle(at):
            clock = f", and at the venue it is {at:%H:%M}" if obstacle.startswith("served") else ""
            yield Problem(param, f"`{ref}` is {obstacle}{clock}.")


def suggest(menu: UUID, unknown: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each unknown id that is similar to an id on the menu, with that id.

    One statement: PostgreSQL returns the ids that share the most trigrams. On a menu of 10,000 random ids of 64
    characters that takes 0.08 s for each.
    """
    if not unknown:
        return
    values = {"menu": menu, "limit": MAX_CANDIDATES, "unknown": list(unknown)}
    for ref, candidates in prepared_statements.fetch_all(SELECT_SIMILAR, values):
        for match in get_close_matches(ref, candidates, n=1, cutoff=0.6):
            yield ref, match
