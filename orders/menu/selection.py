"""Resolves the lines of an order against the venue's menu, in the same query as its ordering settings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import Venue
from framework.api.error_handler import invalid_request
from framework.db import prepared_statements
from framework.errors import Problem
from orders.menu import modifiers
from orders.menu.modifiers import ChosenModifier
from orders.models import MenuCategory, MenuItem
from orders.pricing import Charge

# Bounds the cost of a body with 100 unknown ids on a menu of 10,000 similar ones.
MAX_HINTS = 3
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
    item.prep_minutes, item.is_available, item.sold_out_on, item.stock, category.served_from, category.served_until,
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
class Terms:
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

    terms: Terms
    menu: UUID | None
    items: Sequence[MenuItem] | None
    modifiers: Sequence[tuple[ChosenModifier, ...]]
    # The portions that the order takes of each dish whose stock is counted.
    portions: Mapping[str, int]


def select(venue: Venue, *, items: Sequence[Mapping[str, Any]], payment_method: str, at: datetime) -> Selection:
    """Resolve the lines {menu_item_id, quantity, modifiers} of an order that is wanted at this time.

    Raises InvalidRequest with every problem: unavailable items and modifiers, a wrong number of choices, and a payment
    label that the venue does not accept. One query; one more if a dish has modifiers, one for the dishes in a combo,
    and one for suggestions if an id is unknown.
    """
    refs = [item["menu_item_id"] for item in items]
    at = at.astimezone(ZoneInfo(venue.timezone))
    terms, menu, found, has_modifiers = read_items(venue, refs)
    problems: list[Problem] = []
    chosen = [modifiers.accept_any(item.get("modifiers", ())) for item in items]
    portions: Counter[str] = Counter()
    if menu:
        problems += find_problems(menu, found, refs, at)
        groups = modifiers.read_groups(menu, list(found)) if has_modifiers else {}
        for nth, item in enumerate(items):
            if item["menu_item_id"] in found and (groups or item.get("modifiers")):
                selection = modifiers.Selection(groups)
                chosen[nth] = selection.choose_for_item(
                    item["menu_item_id"], item.get("modifiers", ()), param=f"items[{nth}].modifiers"
                )
                problems += selection.problems
        parts = {each.item for line in chosen for modifier in line for each in modifier.flatten() if each.item}
        if parts - found.keys():
            found |= read_items(venue, sorted(parts - found.keys()))[2]
        if not problems:
            problems += find_part_problems(found, chosen, at)
            problems += find_price_problems(found, refs, chosen)
            portions = count_portions(items, chosen)
            problems += find_stock_problems(found, items, chosen, portions)
    if venue.payment_methods and payment_method not in venue.payment_methods:
        allowed = ", ".join(venue.payment_methods)
        problems.append(
            Problem("payment_method", f"This venue does not take `{payment_method}`. It takes: {allowed}.")
        )
    if problems:
        raise invalid_request(problems)
    return Selection(
        terms=terms,
        menu=menu,
        items=[found[ref] for ref in refs] if menu else None,
        modifiers=chosen,
        portions={ref: count for ref, count in portions.items() if found[ref].stock is not None},
    )


def read_items(venue: Venue, refs: Sequence[str]) -> tuple[Terms, UUID | None, dict[str, MenuItem], bool]:
    """Return the terms, the published menu, its items with these ids, and whether one has modifiers. One query."""
    rows = prepared_statements.fetch_all(SELECT_ITEMS, {"venue": venue.pk, "refs": list(dict.fromkeys(refs))})
    prep_minutes, slot_minutes, orders_per_slot, charges, menu, *_ = rows[0]
    terms = Terms(prep_minutes, slot_minutes or 15, orders_per_slot, [_read_charge(*row) for row in charges])
    items = {row[5]: _build_item(*row[5:-1]) for row in rows if row[5] is not None}
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
    stock: int | None,
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
        stock=stock,
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


def find_part_problems(
    items: Mapping[str, MenuItem], chosen: Sequence[tuple[ChosenModifier, ...]], at: datetime
) -> Iterator[Problem]:
    """Yield the problem of each line with a modifier whose dish is unavailable."""
    for position, line in enumerate(chosen):
        for part in (each for modifier in line for each in modifier.flatten() if each.item):
            if obstacle := items[part.item or ""].find_obstacle(at):
                yield Problem(f"items[{position}].modifiers", f"`{part.ref}` is {obstacle}.")


def find_price_problems(
    items: Mapping[str, MenuItem], refs: Sequence[str], chosen: Sequence[tuple[ChosenModifier, ...]]
) -> Iterator[Problem]:
    """Yield the problem of each line whose modifiers take more off than the dish costs."""
    for position, (ref, line) in enumerate(zip(refs, chosen, strict=True)):
        prices = [each.price or Decimal(0) for modifier in line for each in modifier.flatten()]
        if items[ref].price + sum(prices) < 0:
            yield Problem(f"items[{position}].modifiers", f"With these modifiers `{ref}` costs less than nothing.")


def count_portions(items: Sequence[Mapping[str, Any]], chosen: Sequence[tuple[ChosenModifier, ...]]) -> Counter[str]:
    """Return how many portions of each dish the lines take, those in combos included."""
    portions: Counter[str] = Counter()
    for item, line in zip(items, chosen, strict=True):
        portions[item["menu_item_id"]] += item["quantity"]
        for each in (each for modifier in line for each in modifier.flatten() if each.item):
            portions[each.item or ""] += item["quantity"]
    return portions


def find_stock_problems(
    items: Mapping[str, MenuItem],
    lines: Sequence[Mapping[str, Any]],
    chosen: Sequence[tuple[ChosenModifier, ...]],
    portions: Mapping[str, int],
) -> Iterator[Problem]:
    """Yield the problem of the first line of each dish of which fewer portions are left than the order takes."""
    short = {ref for ref, count in portions.items() if (stock := items[ref].stock) is not None and stock < count}
    for position, (line, modifiers_of_line) in enumerate(zip(lines, chosen, strict=True)):
        parts = {each.item for modifier in modifiers_of_line for each in modifier.flatten()}
        for ref in sorted(short & ({line["menu_item_id"]} | parts)):
            short.remove(ref)
            param = "quantity" if ref == line["menu_item_id"] else "modifiers"
            yield Problem(f"items[{position}].{param}", f"Only {items[ref].stock} of `{ref}` are left.")


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
