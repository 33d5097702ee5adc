"""Finds what a caller has chosen from the venue's menu, or says why it cannot be had."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from difflib import get_close_matches
from itertools import islice
from zoneinfo import ZoneInfo

from django.db import connection

from accounts.models import Venue
from config.api.errors import invalid
from config.api.refusal import Problem
from orders.models import Menu, MenuItem

# A body may hold a hundred unknown ids, and a menu ten thousand that all look like them.
MOST_HINTS = 3
MOST_NEAR = 5
NEAR = """
SELECT stranger, array(
    SELECT ref FROM orders_menuitem WHERE menu_id = %s ORDER BY similarity(ref, stranger) DESC, ref LIMIT %s
)
FROM unnest(%s::text[]) AS stranger
"""


def choose(venue: Venue, *, refs: Sequence[str], payment_method: str, now: datetime) -> list[MenuItem] | None:
    """The items of these `menu_item_id`s, in their order; None where the venue has no published menu.

    Raises InvalidRequest with every item that is not sold now, and with a payment label that the venue does not take.
    One query, two with a menu, and a third for the names that come near to an unknown one.
    """
    menu = Menu.objects.published_by(venue).with_items(set(refs)).first()
    found = {item.ref: item for item in menu.items.all()} if menu else {}
    problems = list(problems_of(menu, found, refs, now.astimezone(ZoneInfo(venue.timezone)))) if menu else []
    if venue.payment_methods and payment_method not in venue.payment_methods:
        allowed = ", ".join(venue.payment_methods)
        problems.append(
            Problem("payment_method", f"This venue does not take `{payment_method}`. It takes: {allowed}.")
        )
    if problems:
        raise invalid(problems)
    return [found[ref] for ref in refs] if menu else None


def problems_of(menu: Menu, found: dict[str, MenuItem], refs: Sequence[str], at: datetime) -> Iterator[Problem]:
    """What is wrong with which line; `at` is now by the venue's clock."""
    strangers = dict.fromkeys(ref for ref in refs if ref not in found)
    hints = {ref: f" Did you mean `{near}`?" for ref, near in nearest(menu, list(islice(strangers, MOST_HINTS)))}
    for position, ref in enumerate(refs):
        unknown = f"There is no `{ref}` on the menu.{hints.get(ref, '')}"
        problem = found[ref].why_not(at) if ref in found else unknown
        if problem:
            yield Problem(f"items[{position}].menu_item_id", problem)


def nearest(menu: Menu, strangers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each of these ids to which one on the menu comes near, and that one.

    One statement: PostgreSQL names the few that share most trigrams with each of them. On a menu of 10,000 random ids
    of 64 letters that takes 0.08 s for each.
    """
    if not strangers:
        return
    with connection.cursor() as cursor:
        cursor.execute(NEAR, [menu.pk, MOST_NEAR, list(strangers)])
        for ref, near in cursor.fetchall():
            for best in get_close_matches(ref, near, n=1, cutoff=0.6):
                yield ref, best
