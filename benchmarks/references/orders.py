"""FastAPI and asyncpg taking orders and listing them, on our tables: what ours does, in as few statements.

Claim the Idempotency-Key, read the menu, write number, order, lines and event in one statement, keep the answer: in
one transaction. The call is written down as ours is: many together, beside the calls.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import orjson
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from uuid_utils.compat import uuid7

from benchmarks.references.data_middleware import RequestRejected, cursor, encode, integer_param, read_query
from benchmarks.references.management_middleware import Answer, Caller, ManagementMiddleware

CLEAN_LINE = r"^[^\x00-\x1f\x7f]*$"
CLEAN = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
CENT = Decimal("0.01")
KEY_LIFETIME = timedelta(days=1)
OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS
CLAIM = """
INSERT INTO accounts_idempotentcall AS before (id, scope, key, operation, body_sha256, headers, created_at)
VALUES ($1, $2, $3, $4, $5, '{}', $6)
ON CONFLICT (scope, key) DO UPDATE
SET id = excluded.id, operation = excluded.operation, body_sha256 = excluded.body_sha256, headers = '{}',
    status = NULL, body = NULL, created_at = excluded.created_at
WHERE before.created_at <= $7
RETURNING id
"""
STORED_RESPONSE = """
SELECT operation, body_sha256, status, headers::text, body FROM accounts_idempotentcall WHERE scope = $1 AND key = $2
"""
STORE_RESPONSE = "UPDATE accounts_idempotentcall SET status = 201, headers = $2::jsonb, body = $3 WHERE id = $1"
MENU = """
SELECT item.ref, item.name, item.price, item.tax_percent, item.is_available, item.sold_out_on, category.served_from,
    category.served_until
FROM orders_menu AS menu
LEFT JOIN orders_menuitem AS item ON item.menu_id = menu.id AND item.ref = ANY($2)
LEFT JOIN orders_menucategory AS category ON category.id = item.category_id
WHERE menu.venue_id = $1 AND menu.is_published
"""
PLACE = """
WITH counted AS (
    INSERT INTO orders_ordernumber AS before (venue_id, business_date, last) VALUES ($2, $3, 1)
    ON CONFLICT (venue_id, business_date) DO UPDATE SET last = before.last + 1 RETURNING last
), placed AS (
    INSERT INTO orders_order (id, venue_id, number, business_date, status, customer_id, delivery_address,
        payment_method, currency, subtotal, tax, total, metadata, version, created_at, updated_at, cancelled_because)
    SELECT $1, $2, counted.last, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11::jsonb, 1, $12, $12, '' FROM counted
), line AS (
    INSERT INTO orders_orderitem
        (order_id, position, menu_item_id, name, quantity, notes, unit_price, tax_percent, line_total)
    SELECT $1, given.place - 1, given.ref, given.name, given.quantity, given.notes, given.unit_price,
        given.tax_percent, given.line_total
    FROM unnest($13::text[], $14::text[], $15::int[], $16::text[], $17::numeric[], $18::numeric[], $19::numeric[])
        WITH ORDINALITY AS given (ref, name, quantity, notes, unit_price, tax_percent, line_total, place)
), event AS (
    INSERT INTO accounts_event (id, venue_id, type, subject, actor, record, created_at)
    SELECT $20, $2, 'order.created', $1, $21, $22::jsonb || jsonb_build_object('number', counted.last), $12
    FROM counted
    RETURNING id, created_at
), endpoint AS (
    SELECT id FROM accounts_webhookendpoint
    WHERE venue_id = $2 AND disabled_at IS NULL AND (types = '{}' OR 'order.created' = ANY(types))
    FOR KEY SHARE SKIP LOCKED
), delivery AS (
    INSERT INTO accounts_webhookdelivery
        (id, event_id, endpoint_id, state, attempts, next_attempt_at, last_response, last_error, created_at)
    SELECT uuidv7(), event.id, endpoint.id, 'pending', 0, event.created_at, '', '', event.created_at
    FROM event CROSS JOIN endpoint
)
SELECT last FROM counted
"""
TOTAL = "SELECT coalesce(sum(total), 0)::int8 FROM accounts_recordcount WHERE venue_id = $1 AND record_type = 'order'"
PAGE = """
SELECT id, number, business_date, status, customer_id, delivery_address, payment_method, currency, subtotal, tax,
    total, metadata::text, version, created_at, updated_at, kitchen_stage, accepted_at, preparing_at, ready_at,
    completed_at, cancelled_at, is_dine_in, "table", contact_name, contact_phone, contact_email, requested_at,
    promised_at, channel, charges::text, tip, (
        SELECT json_agg(
            json_build_array(menu_item_id, name, quantity, notes, modifiers, unit_price::text, line_total::text)
            ORDER BY position
        ) FROM orders_orderitem WHERE order_id = placed.id
    )::text AS lines
FROM orders_order AS placed WHERE venue_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2
"""
LATER_PAGE = f"{PAGE} OFFSET $3"
STRICT = ConfigDict(strict=True, extra="forbid")


class Item(BaseModel):
    """A line to order."""

    model_config = STRICT
    menu_item_id: Annotated[str, Field(min_length=1, max_length=64, pattern=CLEAN_LINE)]
    quantity: Annotated[int, Field(ge=1, le=999)]
    notes: Annotated[str, Field(max_length=500, pattern=CLEAN)] = ""


class NewOrder(BaseModel):
    """An order that is to be placed."""

    model_config = STRICT
    customer_id: Annotated[str, Field(min_length=1, max_length=64, pattern=CLEAN_LINE)]
    items: Annotated[list[Item], Field(min_length=1, max_length=100)]
    delivery_address: Annotated[str, Field(max_length=500, pattern=CLEAN)] | None = None
    payment_method: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
    metadata: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=40, pattern=CLEAN_LINE)],
            Annotated[str, Field(max_length=500, pattern=CLEAN)],
        ],
        Field(max_length=50),
    ] = {}


desk = ManagementMiddleware()
app = FastAPI(lifespan=desk.open, openapi_url=None, docs_url=None, redoc_url=None)


@app.get("/livez")
async def livez() -> Response:
    """Whether it answers."""
    return Response(b"ok")


@app.post("/api/v1/orders")
async def create(request: Request) -> Response:
    """Place an order, once for each Idempotency-Key."""

    async def work(caller: Caller) -> Answer:
        body = await request.body()
        key = request.headers.get("idempotency-key")
        async with desk.pool.acquire() as connection, connection.transaction():
            if key is None:
                return await place_order(connection, caller, body)
            if not VISIBLE.fullmatch(key):
                raise RequestRejected(400, "invalid_request", "1 to 255 visible ASCII characters.", "Idempotency-Key")
            now, digest, operation = datetime.now(UTC), sha256(body).digest(), "POST /api/v1/orders"
            row = await connection.fetchval(
                CLAIM, uuid7(), caller.bucket, key, operation, digest, now, now - KEY_LIFETIME
            )
            if row is None:
                earlier = await connection.fetchrow(STORED_RESPONSE, caller.bucket, key)
                if earlier["operation"] != operation or earlier["body_sha256"] != digest:
                    raise RequestRejected(400, "idempotency_key_reused", "This key came with another request before.")
                stored: Mapping[str, str] = orjson.loads(earlier["headers"])
                return Answer(earlier["body"], 201, {**stored, "idempotent-replayed": "true"})
            payload = await place_order(connection, caller, body)
            await connection.execute(STORE_RESPONSE, row, orjson.dumps(payload.headers).decode(), payload.body)
            return payload

    return await desk.serve(request, "orders:write", work)


async def place_order(connection: Any, caller: Caller, body: bytes) -> Answer:
    """Place what the body describes."""
    try:
        wanted = NewOrder.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RequestRejected(400, "invalid_request", first["msg"], ".".join(map(str, first["loc"]))) from error
    now = datetime.now(UTC)
    here = now.astimezone(ZoneInfo(caller.timezone))
    if caller.payment_methods and wanted.payment_method not in caller.payment_methods:
        raise RequestRejected(400, "invalid_request", "This venue does not take that.", "payment_method")
    asked = [item.menu_item_id for item in wanted.items]
    menu = await connection.fetch(MENU, caller.venue, list(dict.fromkeys(asked)))
    known = {row["ref"]: row for row in menu if row["ref"] is not None}
    lines: list[dict[str, Any]] = []
    subtotal = tax = total = None
    if menu:
        amount = taxes = Decimal("0.00")
        for place, item in enumerate(wanted.items):
            row = known.get(item.menu_item_id)
            if row is None or not is_sold(row, here):
                raise RequestRejected(
                    400, "invalid_request", "That is not to be had now.", f"items[{place}].menu_item_id"
                )
            price = row["price"].quantize(CENT, ROUND_HALF_UP)
            its, percent = price * item.quantity, row["tax_percent"]
            amount += its
            part = its * percent / (100 + percent if caller.includes_tax else 100)
            taxes += part.quantize(CENT, ROUND_HALF_UP)
            lines.append(line(item, row["name"], price, its, percent))
        tax, total = taxes, amount if caller.includes_tax else amount + taxes
        subtotal = total - tax
    else:
        lines = [line(item, None, None, None, None) for item in wanted.items]
    address = wanted.delivery_address if (wanted.delivery_address or "").strip() else None
    key, day = uuid7(), here.date()
    payload = {
        "id": encode("ord", key),
        "object": "order",
        "number": 0,
        "business_date": day,
        "status": "pending",
        "stage": "received",
        "customer_id": wanted.customer_id,
        "items": [{name: one[name] for name in LINE_FIELDS} for one in lines],
        "delivery_address": address,
        "fulfilment": {
            "type": "delivery" if address else "pickup",
            "requested_at": None,
            "table": None,
            "contact": None,
        },
        "channel": None,
        "payment_method": wanted.payment_method,
        "currency": caller.currency,
        "subtotal": format_amount(subtotal),
        "tax": format_amount(tax),
        "charges": [],
        "tip": None,
        "total": format_amount(total),
        "metadata": wanted.metadata,
        "version": 1,
        "created_at": now,
        "updated_at": now,
        "promised_at": None,
        "accepted_at": None,
        "preparing_at": None,
        "ready_at": None,
        "completed_at": None,
        "cancelled_at": None,
    }
    columns = [[one[name] for one in lines] for name in ("menu_item_id", "name", "quantity", "notes", *AMOUNT_FIELDS)]
    payload["number"] = await connection.fetchval(
        PLACE,
        *(key, caller.venue, day, wanted.customer_id, address, wanted.payment_method, caller.currency),
        *(subtotal, tax, total, orjson.dumps(wanted.metadata).decode(), now, *columns, uuid7(), caller.actor),
        orjson.dumps(payload, option=OPTIONS).decode(),
    )
    where = f"{desk.public_url}/api/v1/orders/{payload['id']}"
    return Answer(orjson.dumps(payload, option=OPTIONS), 201, {"etag": '"1"', "location": where})


LINE_FIELDS = ("menu_item_id", "name", "quantity", "notes", "modifiers", "unit_price", "line_total")
AMOUNT_FIELDS = ("price", "percent", "amount")


def line(item: Item, name: str | None, price: Any, amount: Any, percent: Any) -> dict[str, Any]:
    """A line as it is shown, and its numbers as they are stored."""
    return {
        "menu_item_id": item.menu_item_id,
        "name": name,
        "quantity": item.quantity,
        "notes": item.notes,
        "modifiers": [],
        "unit_price": format_amount(price),
        "line_total": format_amount(amount),
        "price": price,
        "percent": percent,
        "amount": amount,
    }


def is_sold(row: Mapping[str, Any], here: datetime) -> bool:
    """Whether it can be ordered now, by the venue's clock."""
    if not row["is_available"] or row["sold_out_on"] == here.date():
        return False
    since, until, at = row["served_from"], row["served_until"], here.time()
    if since is None or until is None:
        return True
    return bool(since <= at < until) if since < until else bool(at >= since or at < until)


def format_amount(amount: Decimal | None) -> str | None:
    """With two digits behind the point."""
    return None if amount is None else f"{amount:.2f}"


@app.get("/api/v1/orders")
async def orders(request: Request) -> Response:
    """A page of orders, newest first."""

    async def work(caller: Caller) -> Answer:
        asked = read_query(
            request.scope["query_string"], {"limit": integer_param(1, 100), "page": integer_param(1, 10**12)}
        )
        limit, page = asked.get("limit", 20), asked.get("page", 1)
        async with desk.pool.acquire() as connection:
            total = await connection.fetchval(TOTAL, caller.venue)
            if page == 1:
                rows = await connection.fetch(PAGE, caller.venue, limit)
            else:
                rows = await connection.fetch(LATER_PAGE, caller.venue, limit, (page - 1) * limit)
        pages = -(-total // limit)
        around = {"page": page, "limit": limit, "total": total, "total_pages": pages, "has_more": page < pages}
        after = cursor(rows[-1]["created_at"], rows[-1]["id"]) if page < pages else None
        content = orjson.dumps([render_order(row) for row in rows], option=OPTIONS)
        etag = sha256(content + orjson.dumps(around)).hexdigest()[:32]
        output = {"data": orjson.Fragment(content), "pagination": {**around, "next_cursor": after}}
        body = orjson.dumps(output, option=OPTIONS)
        known = {"first": 1, "prev": page - 1 if page > 1 else 0, "next": page + 1 if page < pages else 0}
        given = "".join(f"{name}={value}&" for name, value in asked.items() if name != "page")
        links = ", ".join(
            f'<{desk.public_url}/api/v1/orders?{given}page={number}>; rel="{name}"'
            for name, number in {**known, "last": max(pages, 1)}.items()
            if number
        )
        return Answer(body, 200, {"link": links, "etag": f'W/"{etag}"'})

    return await desk.serve(request, "orders:read", work)


def render_fulfilment(row: Mapping[str, Any]) -> dict[str, Any]:
    """How the order reaches the guest."""
    contact = {name: row[f"contact_{name}"] or None for name in ("name", "phone", "email")}
    return {
        "type": "dine_in" if row["is_dine_in"] else "delivery" if row["delivery_address"] else "pickup",
        "requested_at": row["requested_at"],
        "table": row["table"] or None,
        "contact": contact if any(contact.values()) else None,
    }


def render_order(row: Mapping[str, Any]) -> dict[str, Any]:
    """An order of the list."""
    lines: Sequence[Sequence[Any]] = orjson.loads(row["lines"] or "[]")
    return {
        "id": encode("ord", row["id"]),
        "object": "order",
        "number": row["number"],
        "business_date": row["business_date"],
        "status": row["status"],
        "stage": "handed_over" if row["status"] == "completed" else row["kitchen_stage"],
        "customer_id": row["customer_id"],
        "items": [
            {
                "menu_item_id": ref,
                "name": name,
                "quantity": quantity,
                "notes": notes,
                "modifiers": modifiers,
                "unit_price": price and price[:-1],
                "line_total": amount and amount[:-1],
            }
            for ref, name, quantity, notes, modifiers, price, amount in lines
        ],
        "delivery_address": row["delivery_address"],
        "fulfilment": render_fulfilment(row),
        "channel": row["channel"],
        "payment_method": row["payment_method"],
        "currency": row["currency"],
        "subtotal": format_amount(row["subtotal"]),
        "tax": format_amount(row["tax"]),
        "charges": orjson.Fragment(row["charges"]),
        "tip": format_amount(row["tip"]),
        "total": format_amount(row["total"]),
        "metadata": orjson.Fragment(row["metadata"]),
        "version": row["version"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "promised_at": row["promised_at"],
        "accepted_at": row["accepted_at"],
        "preparing_at": row["preparing_at"],
        "ready_at": row["ready_at"],
        "completed_at": row["completed_at"],
        "cancelled_at": row["cancelled_at"],
    }
