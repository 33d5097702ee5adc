"""The basket: the lines of the order as the API takes them, which each form of the page carries as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.utils.translation import gettext as _

from accounts.models import Venue
from framework.api.fields import StrictIntegerField, StrictListField, StrictSerializer
from framework.errors import ApiError, InvalidRequest
from orders import capacity
from orders.menu.selection import OrderingTerms, select
from orders.models import Fulfilment, Menu, MenuItem, Order
from orders.ordering_page.hours import Hours
from orders.ordering_page.menu import load_names
from orders.quotes import price_order
from orders.serializers import NewOrderItem

MAX_LINES = 30
MAX_QUANTITY = 99
MAX_LENGTH = 100_000


class BasketItem(NewOrderItem):
    """A line of the basket."""

    quantity = StrictIntegerField(min_value=1, max_value=MAX_QUANTITY)


class BasketShape(StrictSerializer):
    """The lines of a basket."""

    items = StrictListField(child=BasketItem(), max_length=MAX_LINES)


def read(text: str) -> list[dict[str, Any]]:
    """Return the lines; none if the text is not a basket of this page."""
    if len(text) > MAX_LENGTH:
        return []
    try:
        shape = BasketShape(data={"items": orjson.loads(text)})
    except orjson.JSONDecodeError:
        return []
    return list(shape.validated_data["items"]) if shape.is_valid() else []


def dump(items: Sequence[Mapping[str, Any]]) -> str:
    return orjson.dumps(items).decode()


def add(items: list[dict[str, Any]], line: dict[str, Any]) -> bool:
    """Add the line, to one of the same content if there is one; return whether it had room."""
    for item in items:
        if {**item, "quantity": 0} == {**line, "quantity": 0}:
            item["quantity"] = min(MAX_QUANTITY, item["quantity"] + line["quantity"])
            return True
    if len(items) < MAX_LINES:
        items.append(line)
        return True
    return False


def change(items: list[dict[str, Any]], verb: str, target: str) -> None:
    """`increase`, `decrease` or `remove` a line by its number. An unknown line changes nothing."""
    index = find_line(items, target)
    if index is None:
        return
    item = items[index]
    if verb == "increase":
        item["quantity"] = min(MAX_QUANTITY, item["quantity"] + 1)
    elif verb == "decrease" and item["quantity"] > 1:
        item["quantity"] -= 1
    else:
        del items[index]


def find_line(items: Sequence[Any], number: str) -> int | None:
    """Return the number of a line; None if there is no such line."""
    is_number = number.isascii() and number.isdigit() and len(number) < 4
    return int(number) if is_number and int(number) < len(items) else None


@dataclass(slots=True)
class Line:
    """A line for display. `problem` says why it cannot be ordered."""

    index: int
    quantity: int
    name: str
    modifiers: str
    notes: str
    total: Decimal | None
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class Quote:
    """What the basket costs, without a tip. `order` is not stored; it has no total if a dish is not on the menu."""

    order: Order
    lines: list[Line]
    terms: OrderingTerms
    items: Mapping[str, MenuItem]
    problems: list[str] = field(default_factory=list)

    @property
    def prep_minutes(self) -> int:
        return max([self.terms.prep_minutes or 0, *(item.prep_minutes or 0 for item in self.items.values())])

    def is_served(self, at: datetime) -> bool:
        """Return whether all dishes are served at this time at the venue."""
        return not any(item.find_obstacle(at) for item in self.items.values())


def calculate_quote(menu: Menu, items: Sequence[Mapping[str, Any]], *, fulfilment: str) -> Quote:
    """Return what the lines cost at the prices of `place_order`. At most four queries."""
    venue = menu.venue
    order = Order(venue=venue, currency=venue.currency, is_dine_in=fulfilment == Fulfilment.DINE_IN)
    terms, on_menu = price_order(order, items)
    return Quote(order=order, lines=describe_lines(order, menu), terms=terms, items=on_menu)


def describe_lines(order: Order, menu: Menu | None) -> list[Line]:
    """Return the lines of an order in the guest's language, as far as they are on the menu. Two queries."""
    rows = list(order.items.all())
    chosen = [row.all_modifiers for row in rows]
    dishes: dict[str, str] = {}
    modifiers: dict[str, str] = {}
    if menu:
        refs = {each["id"] for picked in chosen for each in picked}
        dishes, modifiers = load_names(menu, {row.menu_item_id for row in rows}, refs)
    return [
        Line(
            index=index,
            quantity=row.quantity,
            name=dishes.get(row.menu_item_id) or row.name or row.menu_item_id,
            modifiers=", ".join(modifiers.get(each["id"]) or each["name"] or each["id"] for each in picked),
            notes=row.notes,
            total=row.line_total,
        )
        for index, (row, picked) in enumerate(zip(rows, chosen, strict=True))
    ]


def check(venue: Venue, items: Sequence[Mapping[str, Any]], quote: Quote, *, payment: str, at: datetime) -> None:
    """Set the problems of the lines at that time. At most four queries."""
    try:
        select(venue, items=items, payment_method=payment, at=at)
    except InvalidRequest as refusal:
        explain(refusal, quote, at=at)


def explain(refusal: ApiError, quote: Quote, *, at: datetime) -> list[str]:
    """Set the problems of the lines that the error names; return the other parameters that it names."""
    others = []
    at = at.astimezone(ZoneInfo(quote.order.venue.timezone))
    for problem in refusal.details:
        param = problem.param or ""
        number, _dot, rest = param.removeprefix("items[").partition("].")
        if param == "items":
            quote.problems.append(_("There are not enough portions left. Order fewer."))
        elif param.startswith("items[") and number.isdigit() and int(number) < len(quote.lines):
            line = quote.lines[int(number)]
            line.problem = line.problem or describe(rest, quote, int(number), at=at)
        else:
            others.append(param)
    return others


def describe(param: str, quote: Quote, index: int, *, at: datetime) -> str:
    """Say what is wrong with this parameter of a line."""
    if param.startswith("menu_item_id"):
        item = quote.items.get(list(quote.order.items.all())[index].menu_item_id)
        obstacle = item.find_obstacle(at) if item else None
        return _("Please remove this dish: %(reason)s.") % {"reason": obstacle or _("not available")}
    if param.startswith("quantity"):
        return _("There are not enough portions left. Order fewer.")
    if param.startswith("notes"):
        return _("This note cannot be used. Please remove the dish and choose it again.")
    return _("The choices of this dish are not available. Please remove it and choose it again.")


def list_times(
    venue: Venue, quote: Quote, hours: Mapping[str, Hours], *, now: datetime
) -> tuple[dict[str, datetime | None], list[datetime]]:
    """Return the earliest time of each fulfilment, and the later ones of pick-up at which all dishes are served.

    The earliest is None if the kitchen takes no more orders, the venue is closed then, or a dish is served only later.
    At most three queries.
    """
    zone = ZoneInfo(venue.timezone)
    first = now + timedelta(minutes=quote.prep_minutes)
    earliest = capacity.find_free_time(venue, quote.terms, first)
    now = now.astimezone(zone)
    if quote.terms.orders_per_slot is None:
        length = timedelta(minutes=quote.terms.slot_minutes)
        start = capacity.floor_to_slot(first, quote.terms)
        slots = [start + number * length for number in range(1, timedelta(days=1) // length)]
    else:
        slots = list(capacity.list_free_slots(venue, quote.terms, first))
    local = [slot.astimezone(zone) for slot in slots]
    later = [at for at in local if hours[Fulfilment.PICKUP].includes_later(at, now=now) and quote.is_served(at)]
    soonest = {}
    for fulfilment, spans in hours.items():
        is_promised = earliest and spans.includes_promise(earliest, now=now, prep_minutes=quote.prep_minutes)
        soonest[fulfilment] = earliest.astimezone(zone) if earliest and is_promised and quote.is_served(now) else None
    return soonest, later
