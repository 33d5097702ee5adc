"""Finds what a caller has chosen from the venue's menu, or says why it cannot be had."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from difflib import get_close_matches
from itertools import islice
from zoneinfo import ZoneInfo

from accounts.models import Venue
from config.api.errors import invalid
from config.api.refusal import Problem
from orders.models import Menu, MenuItem

# Each unknown id is compared with the whole menu, and a body may hold a hundred of them.
MOST_HINTS = 10


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
    known = list(MenuItem.objects.filter(menu=menu).values_list("ref", flat=True)) if strangers else []
    hints = {}
    for ref in islice(strangers, MOST_HINTS):
        for near in get_close_matches(ref, known, n=1, cutoff=0.6):
            hints[ref] = f" Did you mean `{near}`?"
    for position, ref in enumerate(refs):
        unknown = f"There is no `{ref}` on the menu.{hints.get(ref, '')}"
        problem = found[ref].why_not(at) if ref in found else unknown
        if problem:
            yield Problem(f"items[{position}].menu_item_id", problem)
