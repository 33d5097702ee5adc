"""What stands before the orders of a FastAPI reference: a venue's key, its hour, its scopes, a log of the calls."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from time import monotonic, perf_counter, time
from typing import Any
from uuid import UUID

import orjson
from fastapi import FastAPI, Request, Response
from uuid_utils.compat import uuid7

from benchmarks.references.data_middleware import (
    PROTECTION,
    REMEMBERED_S,
    BytesResponse,
    DataMiddleware,
    RequestRejected,
    encode,
)

HOUR_S = 3600
LOGGED_EVERY_S = 0.5
FIXED = [
    (b"content-type", b"application/json"),
    (b"vary", b"origin"),
    (b"allow", b"GET, POST, HEAD"),
    *PROTECTION,
]
KEY = """
SELECT key.id, key.family, key.start, key.allowance, key.scopes, venue.id AS venue, venue.timezone, venue.currency,
    venue.prices_include_tax, venue.payment_methods
FROM accounts_apikey AS key JOIN accounts_venue AS venue ON venue.id = key.venue_id
WHERE key.digest = $1 AND (key.revoked_at IS NULL OR key.revoked_at > now())
    AND (key.expires_at IS NULL OR key.expires_at > now())
"""
# As ours: a row for each call, and the calls of each venue by the hour.
LOG = """
WITH written AS (
    INSERT INTO accounts_apicall (
        id, venue_id, key_id, method, path, query, status, error_code, duration_ms, address, user_agent, body,
        answer, created_at
    )
    SELECT id, venue, key, method, path, query, status, code, ms, address::inet, agent, '', '', at
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::int[],
        $10::text[], $11::text[], $12::timestamptz[]
    ) AS line (id, venue, key, method, path, query, status, code, ms, address, agent, at)
    ON CONFLICT (id) DO NOTHING
    RETURNING venue_id, status, created_at
)
INSERT INTO accounts_apicallcount AS kept (venue_id, hour, calls, client_errors, server_errors)
SELECT venue_id, date_trunc('hour', created_at, 'UTC') AS hour, count(*),
    count(*) FILTER (WHERE status BETWEEN 400 AND 499), count(*) FILTER (WHERE status >= 500)
FROM written GROUP BY venue_id, hour ORDER BY venue_id, hour
ON CONFLICT (venue_id, hour) DO UPDATE
SET calls = kept.calls + excluded.calls, client_errors = kept.client_errors + excluded.client_errors,
    server_errors = kept.server_errors + excluded.server_errors
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """A venue, by its key, and until when that is believed."""

    key: UUID
    bucket: str
    actor: str
    allowance: int
    scopes: frozenset[str]
    venue: UUID
    timezone: str
    currency: str
    includes_tax: bool
    payment_methods: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its body, its status, and the headers of its own."""

    body: bytes
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


class ManagementMiddleware(DataMiddleware):
    """The doorway of a venue's calls."""

    window_s = HOUR_S

    def __init__(self) -> None:
        super().__init__()
        self.public_url = os.environ.get("REFERENCE_PUBLIC_URL", "http://127.0.0.1")
        self.venues: dict[bytes, Caller] = {}
        self.calls: list[tuple[Any, ...]] = []

    @asynccontextmanager
    async def open(self, app: FastAPI) -> AsyncIterator[None]:
        """Connect, and write the calls down, for as long as the application lives."""
        async with super().open(app):
            writer = asyncio.create_task(self.write())
            yield
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer

    async def write(self) -> None:
        """Write down what was called, many calls together."""
        while True:
            await asyncio.sleep(LOGGED_EVERY_S)
            calls, self.calls = self.calls, []
            if calls:
                await self.pool.execute(LOG, *(list(column) for column in zip(*calls, strict=True)))

    async def serve(  # type: ignore[override]
        self, request: Request, scope: str, work: Callable[[Caller], Awaitable[Answer]]
    ) -> Response:
        """Let the caller in, do the work, stamp the answer, and have the call written down."""
        began, identity, code = perf_counter(), uuid7(), ""
        caller, count, now = None, 0, int(time())
        try:
            caller = await self.identify(request)
            count = await self.count(caller)  # type: ignore[arg-type]  # all that it reads is the bucket
            if count > caller.allowance:
                raise RequestRejected(429, "rate_limit_exceeded", "The allowance of this hour is used up.")
            if scope not in caller.scopes:
                raise RequestRejected(401, "insufficient_scope", f"This API key lacks the scope `{scope}`.")
            payload = await work(caller)
        except RequestRejected as refused:
            code = refused.code
            error: dict[str, Any] = {"code": code, "message": refused.message, "param": refused.param, "details": []}
            payload = Answer(orjson.dumps({"error": {**error, "request_id": encode("req", identity)}}), refused.status)
        head = [*FIXED, (b"x-request-id", encode("req", identity).encode())]
        head += [(name.encode(), value.encode()) for name, value in payload.headers.items()]
        if caller is not None:
            ends, left = now - now % HOUR_S + HOUR_S, max(0, caller.allowance - count)
            head += [
                (b"x-ratelimit-limit", b"%d" % caller.allowance),
                (b"x-ratelimit-remaining", b"%d" % left),
                (b"x-ratelimit-reset", b"%d" % ends),
                (b"ratelimit-policy", b'"mgmt";q=%d;w=%d' % (caller.allowance, HOUR_S)),
                (b"ratelimit", b'"mgmt";r=%d;t=%d' % (left, ends - now)),
            ]
            asked = request.scope
            self.calls.append(
                (
                    *(identity, caller.venue, caller.key, asked["method"], asked["path"]),
                    *(asked["query_string"].decode("latin-1"), payload.status, code),
                    *(round(1000 * (perf_counter() - began)), asked["client"][0]),
                    *(request.headers.get("user-agent", ""), datetime.now(UTC)),
                )
            )
        head.append((b"content-length", b"%d" % len(payload.body)))
        return BytesResponse(payload.status, head, payload.body)

    async def identify(self, request: Request) -> Caller:  # type: ignore[override]
        """Whose key this is. Raises Refused."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise RequestRejected(401, "missing_credentials", "Send your API key.")
        name = sha256(token.encode()).digest()
        caller = self.venues.get(name)
        if caller is None or caller.until < monotonic():
            row = await self.pool.fetchrow(KEY, name)
            if row is None:
                raise RequestRejected(401, "invalid_credentials", "There is no such API key.")
            caller = self.venues[name] = Caller(
                key=row["id"],
                bucket=row["family"].hex,
                actor=f"key:{row['start']}",
                allowance=row["allowance"],
                scopes=frozenset(row["scopes"]),
                venue=row["venue"],
                timezone=row["timezone"],
                currency=row["currency"],
                includes_tax=row["prices_include_tax"],
                payment_methods=tuple(row["payment_methods"] or ()),
                until=monotonic() + REMEMBERED_S,
            )
        return caller
