"""An order as callers see it, written without its serializer.

orders.serializers.OrderRecord says what it is, and the OpenAPI document says that; a test holds the two equal. Of a
request for twenty orders the serializer took two thirds, and then the lines, which PostgreSQL writes, a sixth.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import repeat
from typing import Any
from uuid import UUID

import orjson

from accounts.models import Tally, Venue
from accounts.models.counters import SUM
from framework.api.pagination.page_number import Page
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.public_ids import decode, encode
from orders.models import MenuItem, Order
from orders.models.orders import PREFIX
from orders.pricing import DIGITS, USUAL_DIGITS, Bill, written


def _places() -> str:
    """How many digits an amount in the order's currency has, in SQL."""
    others = sorted(set(DIGITS.values()) - {USUAL_DIGITS})
    named = {count: ", ".join(f"'{one}'" for one, its in DIGITS.items() if its == count) for count in others}
    cases = " ".join(f"WHEN placed.currency IN ({currencies}) THEN {count}" for count, currencies in named.items())
    return f"CASE {cases} ELSE {USUAL_DIGITS} END"


def _amount_in_sql(column: str) -> str:
    """An amount as callers see it, a text or null."""
    return f"round({column}, {PLACES})::text"


PLACES = _places()
# Its lines come with it, as the JSON that callers see.
LINE = f"""concat(
    '{{"menu_item_id":', to_json(menu_item_id), ',"name":', coalesce(to_json(name)::text, 'null'),
    ',"quantity":', quantity, ',"notes":', to_json(notes),
    ',"unit_price":', coalesce(to_json({_amount_in_sql("unit_price")})::text, 'null'),
    ',"line_total":', coalesce(to_json({_amount_in_sql("line_total")})::text, 'null'), '}}'
)"""
# What the record is made of, in its order.
SOURCES = {
    "id": "id",
    "object": "'order'",
    "number": "number",
    "business_date": "business_date",
    "status": "status",
    "customer_id": "customer_id",
    "items": f"""(
        SELECT concat('[', string_agg({LINE}, ',' ORDER BY position), ']')
        FROM orders_orderitem WHERE order_id = placed.id
    )""",  # noqa: S608  # of constants
    "delivery_address": "delivery_address",
    "payment_method": "payment_method",
    "currency": "currency",
    "subtotal": _amount_in_sql("subtotal"),
    "tax": _amount_in_sql("tax"),
    "total": _amount_in_sql("total"),
    "metadata": "metadata::text",
    "version": "version",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "completed_at": "completed_at",
    "cancelled_at": "cancelled_at",
}
COLUMNS = ", ".join(SOURCES.values())
MOMENTS = ("created_at", "updated_at", "completed_at", "cancelled_at")
ROWS = f"SELECT {COLUMNS} FROM orders_order AS placed"  # noqa: S608  # of constants
ONE = f"{ROWS} WHERE id = %(id)s AND venue_id = %(venue)s"
NEWEST = "ORDER BY created_at DESC, id DESC"
OF_STATUS = "AND status = %(status)s"
# With how many there are in all, in one way to the database and back. Of one status or of all.
FIRST_PAGE = {
    which: f"""
SELECT {COLUMNS}, ({SUM} {which}) FROM orders_order AS placed
WHERE venue_id = %(venue)s {which} {NEWEST} LIMIT %(limit)s
"""  # noqa: S608  # of constants
    for which in ("", OF_STATUS)
}
# By the index alone. As one statement with the rows it was planned to take more than five seconds, while statistics
# lagged behind ten thousand new rows.
KEYS = {
    which: f"""
SELECT id FROM orders_order WHERE venue_id = %(venue)s {which} {NEWEST} LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608  # of constants
    for which in ("", OF_STATUS)
}
LATER_PAGE = f"{ROWS} WHERE id = ANY(%(ids)s) {NEWEST}"


def new(
    key: UUID,
    *,
    business_date: date,
    customer_id: str,
    delivery_address: str | None,
    payment_method: str,
    currency: str,
    metadata: Mapping[str, str],
    now: datetime,
    items: Sequence[Mapping[str, Any]],
    chosen: Sequence[MenuItem] | None,
    bill: Bill | None,
) -> dict[str, Any]:
    """The record of an order that is about to be placed, with None for its number.

    `items` are {menu_item_id, quantity, notes}, `chosen` what they are on the menu and `bill` what they come to, None
    where there is no menu.
    """
    amount = partial(_amount, currency=currency)
    subtotal, tax, total = (None, None, None) if bill is None else (bill.subtotal, bill.tax, bill.total)
    names = repeat(None) if chosen is None else (item.name for item in chosen)
    prices = repeat((None, None)) if bill is None else ((line.unit_price, line.total) for line in bill.lines)
    return _record(
        encode(PREFIX, key),
        None,
        business_date,
        Order.Status.PENDING.value,
        customer_id,
        delivery_address,
        payment_method,
        currency,
        amount(subtotal),
        amount(tax),
        amount(total),
        metadata,
        1,
        now,
        now,
        None,
        None,
        lines=[
            _line(item["menu_item_id"], name, item["quantity"], item.get("notes", ""), amount(each), amount(all_))
            for item, name, (each, all_) in zip(items, names, prices, strict=False)
        ],
    )


def of(order: Order) -> dict[str, Any]:
    """The record of an order whose lines were fetched with it."""
    currency = order.currency
    return _record(
        order.public_id,
        order.number,
        order.business_date,
        order.status,
        order.customer_id,
        order.delivery_address,
        order.payment_method,
        currency,
        _amount(order.subtotal, currency),
        _amount(order.tax, currency),
        _amount(order.total, currency),
        order.metadata,
        order.version,
        order.created_at,
        order.updated_at,
        order.completed_at,
        order.cancelled_at,
        lines=[
            _line(
                line.menu_item_id,
                line.name,
                line.quantity,
                line.notes,
                _amount(line.unit_price, currency),
                _amount(line.line_total, currency),
            )
            for line in order.items.all()
        ],
    )


def known_as(public_id: str, *, venue: Venue) -> dict[str, Any] | None:
    """The record of the venue's order of this public id; None for another's, and for an id that is malformed.

    One query.
    """
    key = decode(PREFIX, public_id)
    row = prepared_statements.fetch_one(ONE, {"id": key, "venue": venue.pk}) if key else None
    return None if row is None else _of_row(row)


def page_of(venue: Venue, page: Page, *, status: str | None = None) -> tuple[int, list[dict[str, Any]]]:
    """How many orders the venue has, of one status or in all, and those of a page, newest first.

    One query for the first page; for others three, and one for a page past the end.
    """
    condition = OF_STATUS if status else ""
    noun = Tally.Noun.ORDER
    asked = {"venue": venue.pk, "noun": noun, "status": status, "limit": page.limit, "offset": page.offset}
    if not page.offset:
        told = prepared_statements.fetch_all(FIRST_PAGE[condition], asked)
        return (told[0][-1] if told else 0), [_of_row(row) for row in told]
    total = Tally.objects.count_of(venue, noun, status=status)
    if page.offset >= total:
        return total, []
    ids = [pk for (pk,) in prepared_statements.fetch_all(KEYS[condition], asked)]
    return total, [_of_row(row) for row in prepared_statements.fetch_all(LATER_PAGE, {"ids": ids})]


def _of_row(row: prepared_statements.Row) -> dict[str, Any]:
    """The record of a row; days, and moments to the second, are left to the renderer, which is quicker with them."""
    told = dict(zip(SOURCES, row, strict=False))
    for moment in MOMENTS:
        told[moment] = told[moment] and told[moment].replace(microsecond=0)
    told["id"] = encode(PREFIX, told["id"])
    told["items"] = orjson.Fragment(told["items"])
    told["metadata"] = orjson.loads(told["metadata"])
    return told


def _record(
    public_id: str,
    number: int | None,
    business_date: date,
    status: str,
    customer_id: str,
    delivery_address: str | None,
    payment_method: str,
    currency: str,
    subtotal: str | None,
    tax: str | None,
    total: str | None,
    metadata: Mapping[str, str],
    version: int,
    created_at: datetime,
    updated_at: datetime,
    completed_at: datetime | None,
    cancelled_at: datetime | None,
    *,
    lines: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    return {
        "id": public_id,
        "object": "order",
        "number": number,
        "business_date": business_date.isoformat(),
        "status": status,
        "customer_id": customer_id,
        "items": lines,
        "delivery_address": delivery_address,
        "payment_method": payment_method,
        "currency": currency,
        "subtotal": subtotal,
        "tax": tax,
        "total": total,
        "metadata": metadata,
        "version": version,
        "created_at": format_datetime(created_at),
        "updated_at": format_datetime(updated_at),
        "completed_at": completed_at and format_datetime(completed_at),
        "cancelled_at": cancelled_at and format_datetime(cancelled_at),
    }


def _line(
    ref: str, name: str | None, quantity: int, notes: str, unit_price: str | None, line_total: str | None
) -> dict[str, Any]:
    return {
        "menu_item_id": ref,
        "name": name,
        "quantity": quantity,
        "notes": notes,
        "unit_price": unit_price,
        "line_total": line_total,
    }


def _amount(amount: Decimal | None, currency: str) -> str | None:
    return None if amount is None else written(amount, currency)
