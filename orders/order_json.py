"""The JSON of orders, built without the serializer, which is 40 times slower (431 us for three lines; this 10 us).

orders.serializers.OrderRecord documents the record in OpenAPI; a test holds the two equal. Of a list of twenty orders
the serializer took two thirds of the time, and after that the lines, which PostgreSQL now renders, a sixth.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson

from accounts.models import RecordCount, Venue
from accounts.models.counters import SUM
from framework.api.pagination.list_cursors import ListCursors, Position
from framework.api.pagination.page_number import Page
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.public_ids import decode, encode
from orders.models import Order, Orders
from orders.models.orders import PREFIX
from orders.pricing import DECIMALS, DEFAULT_DECIMALS, format_if_priced


def _amount_sql(column: str) -> str:
    """Return the SQL expression of a formatted amount, a text or null."""
    return f"round({column}, {DECIMALS_SQL})::text"


# The number of decimals in the order's currency.
CASES = [
    f"WHEN placed.currency IN {tuple(code for code in DECIMALS if DECIMALS[code] == decimals)} THEN {decimals}"
    for decimals in sorted(set(DECIMALS.values()))
]
DECIMALS_SQL = f"CASE {' '.join(CASES)} ELSE {DEFAULT_DECIMALS} END"
# PostgreSQL renders the lines as JSON.
LINE = f"""concat(
    '{{"menu_item_id":', to_json(menu_item_id), ',"name":', coalesce(to_json(name)::text, 'null'),
    ',"quantity":', quantity, ',"notes":', to_json(notes), ',"modifiers":', modifiers,
    ',"unit_price":', coalesce(to_json({_amount_sql("unit_price")})::text, 'null'),
    ',"line_total":', coalesce(to_json({_amount_sql("line_total")})::text, 'null'), '}}'
)"""
FIELDS = (
    *("id", "object", "number", "business_date", "status", "stage", "customer_id", "items", "delivery_address"),
    *("fulfilment", "channel", "payment_method", "currency", "subtotal", "tax", "charges", "tip", "total"),
    *("payment", "metadata", "version", "created_at", "updated_at", "promised_at"),
    *("accepted_at", "preparing_at", "ready_at", "completed_at", "cancelled_at"),
)
# The SQL expressions of the fields that are not a column.
EXPRESSIONS = {
    "object": "'order'",
    "stage": "CASE WHEN status = 'completed' THEN 'handed_over' ELSE kitchen_stage END",
    "items": f"""(
        SELECT concat('[', string_agg({LINE}, ',' ORDER BY position), ']')
        FROM orders_orderitem WHERE order_id = placed.id
    )""",  # noqa: S608  # of constants
    "fulfilment": """json_build_object(
        'type', CASE WHEN is_dine_in THEN 'dine_in' WHEN delivery_address IS NULL THEN 'pickup' ELSE 'delivery' END,
        'requested_at', to_char(requested_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'table', nullif("table", ''),
        'contact', CASE WHEN concat(contact_name, contact_phone, contact_email) <> '' THEN json_build_object(
            'name', nullif(contact_name, ''), 'phone', nullif(contact_phone, ''), 'email', nullif(contact_email, '')
        ) END
    )::text""",
    **{column: _amount_sql(column) for column in ("subtotal", "tax", "tip", "total")},
    "charges": "charges::text",
    "payment": """CASE WHEN payment_state <> '' THEN json_build_object(
        'state', payment_state, 'amount', trim_scale(usdc_amount)::text, 'currency', 'USDC'
    ) END::text""",
    "metadata": "metadata::text",
}
COLUMNS = ", ".join(EXPRESSIONS.get(field, field) for field in FIELDS)
TIMESTAMPS = tuple(field for field in FIELDS if field.endswith("_at"))
ROWS = f"SELECT {COLUMNS} FROM orders_order AS placed"  # noqa: S608  # of constants
BY_ID = f"{ROWS} WHERE id = %(id)s AND venue_id = %(venue)s"
NEWEST = "ORDER BY created_at DESC, id DESC"
OF_STATUS = "AND status = %(status)s"
# With the total, in one round trip; for one status or for all.
FIRST_PAGE = {
    which: f"""
SELECT {COLUMNS}, ({SUM} {which}) FROM orders_order AS placed
WHERE venue_id = %(venue)s {which} {NEWEST} LIMIT %(limit)s
"""  # noqa: S608  # of constants
    for which in ("", OF_STATUS)
}
# Uses the index only. As one statement with the rows, PostgreSQL chose a plan of more than five seconds while the
# statistics did not include ten thousand new rows.
KEYS = {
    which: f"""
SELECT id FROM orders_order WHERE venue_id = %(venue)s {which} {NEWEST} LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608  # of constants
    for which in ("", OF_STATUS)
}
BY_IDS = f"{ROWS} WHERE id = ANY(%(ids)s::uuid[]) ORDER BY array_position(%(ids)s::uuid[], id)"
# A change is visible when its transaction is committed, at most so long after its `updated_at`.
COMMIT_LAG = timedelta(minutes=1)
# The number of orders that match, the records of a page, and the position of its last one if others come after it.
PageOfOrders = tuple[int, list[dict[str, Any]], Position | None]


def serialize_order(order: Order) -> dict[str, Any]:
    """Return the record of an order with prefetched lines, stored or not."""
    currency = order.currency
    return {
        "id": order.public_id,
        "object": "order",
        "number": order.number,
        "business_date": order.business_date.isoformat(),
        "status": order.status,
        "stage": order.stage,
        "customer_id": order.customer_id,
        "items": [
            {
                "menu_item_id": line.menu_item_id,
                "name": line.name,
                "quantity": line.quantity,
                "notes": line.notes,
                "modifiers": line.modifiers,
                "unit_price": format_if_priced(line.unit_price, currency),
                "line_total": format_if_priced(line.line_total, currency),
            }
            for line in order.items.all()
        ],
        "delivery_address": order.delivery_address,
        "fulfilment": serialize_fulfilment(order),
        "channel": order.channel,
        "payment_method": order.payment_method,
        "currency": currency,
        "subtotal": format_if_priced(order.subtotal, currency),
        "tax": format_if_priced(order.tax, currency),
        "charges": order.charges,
        "tip": format_if_priced(order.tip, currency),
        "total": format_if_priced(order.total, currency),
        "payment": serialize_payment(order),
        "metadata": order.metadata,
        "version": order.version,
        "created_at": format_datetime(order.created_at),
        "updated_at": format_datetime(order.updated_at),
        "promised_at": order.promised_at and format_datetime(order.promised_at),
        "accepted_at": order.accepted_at and format_datetime(order.accepted_at),
        "preparing_at": order.preparing_at and format_datetime(order.preparing_at),
        "ready_at": order.ready_at and format_datetime(order.ready_at),
        "completed_at": order.completed_at and format_datetime(order.completed_at),
        "cancelled_at": order.cancelled_at and format_datetime(order.cancelled_at),
    }


def serialize_fulfilment(order: Order) -> dict[str, Any]:
    """Return how the order reaches the guest, and whom to call; `contact` is None if nobody is named."""
    contact = {name: getattr(order, f"contact_{name}") or None for name in ("name", "phone", "email")}
    return {
        "type": order.fulfilment,
        "requested_at": order.requested_at and format_datetime(order.requested_at),
        "table": order.table or None,
        "contact": contact if any(contact.values()) else None,
    }


def serialize_payment(order: Order) -> dict[str, Any] | None:
    """Return what became of the payment in USDC; None for an order that is not paid so."""
    if not order.payment_state or order.usdc_amount is None:
        return None
    amount = f"{order.usdc_amount.normalize():f}"
    return {"state": order.payment_state, "amount": amount, "currency": "USDC"}


def cursors_of(venue: Venue, filters: Mapping[str, str]) -> ListCursors:
    """Return the cursors of the venue's list of orders with these filters."""
    return ListCursors(
        name="orders",
        owner=venue.pk,
        filters=filters,
        sort_key="-created_at",
        commit_lag=COMMIT_LAG,
        read_records=read_records,
    )


def find_record(public_id: str, *, venue: Venue) -> dict[str, Any] | None:
    """Return the record of the venue's order with this id; None for an unknown, malformed or another venue's id.

    One query.
    """
    key = decode(PREFIX, public_id)
    row = prepared_statements.fetch_one(BY_ID, {"id": key, "venue": venue.pk}) if key else None
    return None if row is None else _serialize_row(row)


def read_page(venue: Venue, page: Page, *, status: str | None = None) -> PageOfOrders:
    """Return the number of the venue's orders, in one status or in all, and a page of them, newest first.

    One query for the first page, three for later ones, one for a page past the end.
    """
    condition = OF_STATUS if status else ""
    record_type = RecordCount.RecordType.ORDER
    values = {"venue": venue.pk, "record_type": record_type, "status": status}
    if not page.offset:
        rows = prepared_statements.fetch_all(FIRST_PAGE[condition], values | {"limit": page.limit})
        total = rows[0][-1] if rows else 0
        return _serialize_page(total, rows, has_more=total > page.limit)
    total = RecordCount.objects.get_total(venue, record_type, status=status)
    if page.offset >= total:
        return total, [], None
    values |= {"limit": page.limit + 1, "offset": page.offset}
    return _read_page_of_ids(page, total, [pk for (pk,) in prepared_statements.fetch_all(KEYS[condition], values)])


def read_filtered_page(venue: Venue, page: Page, orders: Orders) -> PageOfOrders:
    """Return the number of these orders that are the venue's, and a page of them, newest first.

    Three queries, one for a page past the end.
    """
    matching = orders.of(venue)
    total = matching.count()
    if page.offset >= total:
        return total, [], None
    keys = matching.newest_first().values_list("pk", flat=True)
    return _read_page_of_ids(page, total, list(keys[page.offset : page.offset + page.limit + 1]))


def read_records(ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Return the records of the orders with these ids, in this order. One query."""
    return [_serialize_row(row) for row in prepared_statements.fetch_all(BY_IDS, {"ids": ids})]


def _read_page_of_ids(page: Page, total: int, ids: Sequence[UUID]) -> PageOfOrders:
    """Return the page of these ids, of which there is one more than the limit if others come after the page.

    An order that was placed after the count is counted if it moved others off the page.
    """
    rows = prepared_statements.fetch_all(BY_IDS, {"ids": ids[: page.limit]})
    return _serialize_page(max(total, page.offset + len(ids)), rows, has_more=len(ids) > page.limit)


def _serialize_page(total: int, rows: Sequence[prepared_statements.Row], *, has_more: bool) -> PageOfOrders:
    last = dict(zip(FIELDS, rows[-1], strict=False)) if rows and has_more else None
    return total, [_serialize_row(row) for row in rows], (last["created_at"], last["id"]) if last else None


def _serialize_row(row: prepared_statements.Row) -> dict[str, Any]:
    """Return the record of a row. The renderer formats dates and times, which is faster."""
    record = dict(zip(FIELDS, row, strict=False))
    for name in TIMESTAMPS:
        record[name] = record[name] and record[name].replace(microsecond=0)
    record["id"] = encode(PREFIX, record["id"])
    record["items"] = orjson.Fragment(record["items"])
    for name in ("fulfilment", "charges", "payment", "metadata"):
        record[name] = record[name] and orjson.loads(record[name])
    return record
