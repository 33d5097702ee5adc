"""Resolves the lines of an order against the venue's menu, in the same query as its ordering settings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Venue
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from orders.menu.modifiers import MAX_HINTS, ChosenModifier, Resolver, accept_any, flatten, read_groups
from orders.models import MenuCategory, MenuItem
from orders.models.settings import DEFAULT_SLOT_MINUTES
from orders.pricing import Charge

MAX_CANDIDATES = 5
# The settings, and the published menu with the requested items; one row without an item if there are none.
SELECT_ITEMS = """
SELECT settings.prep_minutes, settings.slot_minutes, settings.orders_per_slot,
    array(
        SELECT jsonb_build_array(
            type, name, amount::text, percent::text, tax_percent::text, free_from::text, fulfilments
        )
        FROM orders_chargerule WHERE venue_id = asked.venue_id ORDER BY position, name
    ),
    menu.id, item.ref, item.name, item.price, item.tax_percent, item.takeaway_tax_percent, item.station,
    item.prep_minutes, item.is_available, item.sold_out_on, item.sold_out_until, category.served_from,
    category.served_until, item.stock,
    EXISTS (SELECT FROM orders_itemmodifiergroup WHERE item_id = item.id)
FROM (SELECT %(venue)s::uuid AS venue_id) AS asked
LEFT JOIN orders_orderingsettings AS settings ON settings.venue_id = asked.venue_id
LEFT JOIN orders_menu AS menu ON menu.venue_id = asked.venue_id AND menu.is_published
LEFT JOIN orders_menuitem AS item ON item.menu_id = menu.id AND item.ref = ANY(%(refs)s)
LEFT JOIN orders_menucategory AS category ON category.id = item.category_id
"""
SELECT_SIMILAR = """
SELECT unknown, array(
    SELECT ref FROM orders_menuitem WHERE menu_id = %(menu)s ORDER BY similarity(ref, unknown) DESC, ref
    LIMIT %(limit)s
)
FROM unnest(%(unknown)s::text[]) AS unknown
"""


@dataclass(frozen=True, slots=True)
class ChargeTerms:
    """A charge of the venue, for orders of these fulfilments."""

    type: str
    name: str
    charge: Charge
    fulfilments: Sequence[str]


@dataclass(frozen=True, slots=True)
class OrderingTerms:
    """How the venue takes orders. `prep_minutes` is None for a venue that promises nothing."""

    prep_minutes: int | None
    slot_minutes: int
    orders_per_slot: int | None
    charges: Sequence[ChargeTerms]

    def charges_of(self, fulfilment: str) -> list[ChargeTerms]:
        return [each for each in self.charges if not each.fulfilments or fulfilment in each.fulfilments]


@dataclass(frozen=True, slots=True)
class Selection:
    """The resolved lines of an order. `items` is None if the venue has no published menu."""

    terms: OrderingTerms
    menu: UUID | None = None
    items: Sequence[MenuItem] | None = None
    modifiers: Sequence[tuple[ChosenModifier, ...]] = ()
    # The portions that the order takes of each dish whose stock is counted.
    portions: Mapping[str, int] = field(default_factory=dict)
    # Of the dish that takes longest.
    prep_minutes: int = 0


def select(venue: Venue, *, items: Sequence[Mapping[str, Any]], payment_method: str, at: datetime) -> Selection:
    """Resolve the lines {menu_item_id, quantity, modifiers} of an order that is wanted at this time.

    Raises InvalidRequest with every problem: unavailable items and modifiers, a wrong number of choices, too few
    portions, and a payment label that the venue does not accept. One query; one more if a dish has modifiers, one for
    the dishes in a combo, and one for suggestions if an id is unknown.
    """
    refs = [item["menu_item_id"] for item in items]
    at = at.astimezone(ZoneInfo(venue.timezone))
    terms, menu, found, has_modifiers = read_items(venue, refs)
    problems: list[Problem] = []
    if menu is None:
        selection = Selection(terms, modifiers=[accept_any(item.get("modifiers", ())) for item in items])
    else:
        problems += find_problems(menu, found, refs, at)
        resolver = Resolver(read_groups(menu, list(found)) if has_modifiers else {}, problems)
        chosen = [
            resolver.resolve_line(ref, item.get("modifiers", ()), param=f"items[{position}].modifiers")
            if ref in found
            else ()
            for position, (ref, item) in enumerate(zip(refs, items, strict=True))
        ]
        parts = {each.item_ref for line in chosen for each in flatten(line) if each.item_ref}
        if parts - found.keys():
            found |= read_items(venue, sorted(parts - found.keys()))[2]
        problems += find_line_problems(found, items, chosen, at)
        portions = count_portions(found, items, chosen)
        selection = Selection(
            terms,
            menu,
            [found[ref] for ref in refs if ref in found],
            chosen,
            {ref: count for ref, count in portions.items() if found[ref].stock is not None},
            max((item.prep_minutes or 0 for item in found.values()), default=0),
        )
    if venue.payment_methods and payment_method not in venue.payment_methods:
        allowed = ", ".join(venue.payment_methods)
        message = _("This venue does not take `%(method)s`. It takes: %(allowed)s.")
        values = {"method": payment_method, "allowed": allowed}
        problems.append(Problem("payment_method", message % values))
    if problems:
        raise invalid_request(problems)
    return selection


def read_items(venue: Venue, refs: Sequence[str]) -> tuple[OrderingTerms, UUID | None, dict[str, MenuItem], bool]:
    """Return the terms, the published menu, its items with these ids, and whether one has modifiers. One query."""
    rows = prepared_statements.fetch_all(SELECT_ITEMS, {"venue": venue.pk, "refs": list(dict.fromkeys(refs))})
    prep_minutes, slot_minutes, orders_per_slot, charges, menu, *_ = rows[0]
    terms = OrderingTerms(
        prep_minutes, slot_minutes or DEFAULT_SLOT_MINUTES, orders_per_slot, [_read_charge(*row) for row in charges]
    )
    items = {row[5]: _with_stock(_build_item(*row[5:-2]), row[-2]) for row in rows if row[5] is not None}
    return terms, menu, items, any(row[-1] for row in rows)


def _read_charge(
    kind: str,
    name: str,
    amount: str | None,
    percent: str | None,
    tax_percent: str,
    free_from: str | None,
    fulfilments: Sequence[str],
) -> ChargeTerms:
    amounts = [None if text is None else Decimal(text) for text in (amount, percent, free_from)]
    charge = Charge(amount=amounts[0], percent=amounts[1], tax_percent=Decimal(tax_percent), free_from=amounts[2])
    return ChargeTerms(kind, name, charge, fulfilments)


def _with_stock(item: MenuItem, stock: int | None) -> MenuItem:
    """Return the item with its stock, which changes with each order and so is not part of the cached item."""
    if stock is None:
        return item
    item = copy(item)
    item.stock = stock
    return item


@lru_cache(maxsize=4_096)
def _build_item(
    ref: str,
    name: str,
    price: Decimal,
    tax_percent: Decimal,
    takeaway_tax_percent: Decimal | None,
    station: str,
    prep_minutes: int | None,
    is_available: bool,
    sold_out_on: date | None,
    sold_out_until: datetime | None,
    served_from: time | None,
    served_until: time | None,
) -> MenuItem:
    # Cached, because creating a model instance is slow. Callers must not change it.
    return MenuItem(
        ref=ref,
        name=name,
        price=price,
        tax_percent=tax_percent,
        takeaway_tax_percent=takeaway_tax_percent,
        station=station,
        prep_minutes=prep_minutes,
        is_available=is_available,
        sold_out_on=sold_out_on,
        sold_out_until=sold_out_until,
        category=MenuCategory(served_from=served_from, served_until=served_until),
    )


def find_problems(menu: UUID, items: Mapping[str, MenuItem], refs: Sequence[str], at: datetime) -> Iterator[Problem]:
    """Yield the problem of each line whose item is unknown or unavailable at this local time."""
    unknown = dict.fromkeys(ref for ref in refs if ref not in items)
    hints = dict(suggest(menu, list(islice(unknown, MAX_HINTS))))
    for position, ref in enumerate(refs):
        param = f"items[{position}].menu_item_id"
        if ref not in items:
            message = _("There is no `%(id)s` on the menu.")
            if ref in hints:
                message = _("There is no `%(id)s` on the menu. Did you mean `%(match)s`?")
            yield Problem(param, message % {"id": ref, "match": hints.get(ref)})
        elif obstacle := items[ref].find_obstacle(at):
            message = _("`%(id)s` is %(obstacle)s.")
            if obstacle.startswith("served"):
                # Of the API, in English.
                message = "`%(id)s` is %(obstacle)s; the order is for %(time)s."
            yield Problem(param, message % {"id": ref, "obstacle": obstacle, "time": f"{at:%H:%M}"})


def find_line_problems(
    items: Mapping[str, MenuItem],
    lines: Sequence[Mapping[str, Any]],
    chosen: Sequence[Sequence[ChosenModifier]],
    at: datetime,
) -> Iterator[Problem]:
    """Yield the problems of lines of known dishes: parts of combos, the price, and the stock.

    Too few portions of a dish are the problem of the first line that takes some.
    """
    portions = count_portions(items, lines, chosen)
    short = {ref for ref, count in portions.items() if 0 < (items[ref].stock or 0) < count}
    for position, (line, modifiers) in enumerate(zip(lines, chosen, strict=True)):
        ref, param = line["menu_item_id"], f"items[{position}]"
        parts = {each.ref: each.item_ref for each in flatten(modifiers) if each.item_ref}
        for modifier, part in parts.items():
            obstacle = items[part].find_obstacle(at) if part in items else _("not available")
            if obstacle:
                message = _("`%(id)s` is %(obstacle)s.") % {"id": modifier, "obstacle": obstacle}
                yield Problem(f"{param}.modifiers", message)
        if ref in items and items[ref].price + sum(each.price or 0 for each in flatten(modifiers)) < 0:
            message = _("With these modifiers `%(id)s` costs less than nothing.") % {"id": ref}
            yield Problem(f"{param}.modifiers", message)
        for missing in sorted(short & {ref, *parts.values()}):
            short.remove(missing)
            name = "quantity" if missing == ref else "modifiers"
            yield Problem(f"{param}.{name}", describe_stock(missing, items[missing].stock or 0))


def describe_stock(ref: str, stock: int) -> str:
    message = ngettext("Only %(count)s of `%(id)s` is left.", "Only %(count)s of `%(id)s` are left.", stock)
    return message % {"count": stock, "id": ref}


def count_portions(
    items: Mapping[str, MenuItem],
    lines: Sequence[Mapping[str, Any]],
    chosen: Sequence[Sequence[ChosenModifier]],
) -> Counter[str]:
    """Return how many portions of each of these dishes the lines take, those in combos included."""
    portions: Counter[str] = Counter()
    for line, modifiers in zip(lines, chosen, strict=True):
        for ref in (line["menu_item_id"], *(each.item_ref for each in flatten(modifiers))):
            if ref in items:
                portions[ref] += line["quantity"]
    return portions


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
