"""What stands before each answer of a FastAPI reference, as before ours: key, limit, headers, ETag, refusals.

Written to be fast: no middleware, no response models, headers as bytes. The key is believed for 30 seconds, the limit
is counted by one round trip to Valkey, a connection to PostgreSQL goes back to its pool without being reset.
"""

import hashlib
import hmac
import os
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import asyncpg  # type: ignore[import-untyped]
import orjson
import redis.asyncio
from fastapi import FastAPI, Request, Response
from uuid_utils import uuid7

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
REMEMBERED_S = 30.0
WINDOW_S = 60
CONNECTIONS = 10
SLUG = re.compile(r"[a-z0-9-]{1,120}")
SECRET = os.urandom(32)
SHARED, OWN = b"public, max-age=60, stale-while-revalidate=300", b"private, no-store"
PROTECTION = [
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
FIXED = [
    (b"content-type", b"application/json"),
    (b"vary", b"Authorization, SIGN-IN-WITH-X, X-Payment, PAYMENT-SIGNATURE, origin"),
    (b"allow", b"GET, HEAD"),
    *PROTECTION,
]
KEY = """
SELECT key.id, plan.tier, plan.per_minute FROM accounts_apikey AS key
JOIN accounts_venue AS venue ON venue.id = key.venue_id
LEFT JOIN payments_plan AS plan ON plan.account_id = venue.account_id
    AND plan.valid_from <= now() AND (plan.valid_until IS NULL OR plan.valid_until > now())
WHERE key.digest = $1 AND (key.revoked_at IS NULL OR key.revoked_at > now())
    AND (key.expires_at IS NULL OR key.expires_at > now())
"""


async def reset_nothing(connection: Any) -> None:
    """Done to a connection that goes back to the pool: asyncpg's own reset would be a round trip."""


class RequestRejected(Exception):
    """An answer that is none: status, code, words, and the parameter that is meant."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.param = status, code, message, param


class BytesResponse(Response):
    """An answer whose head is bytes already."""

    def __init__(self, status: int, head: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status_code, self.raw_headers, self.body, self.background = status, head, body, None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose key it is, and until when that is believed."""

    bucket: str
    tier: bytes
    per_minute: int
    until: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A body in JSON; `content` is what its ETag is of, where the body also tells a moment or a cursor."""

    body: bytes
    caching: bytes = SHARED
    content: bytes | None = None


class DataMiddleware:
    """The pool, the counters, and who has been here."""

    window_s = WINDOW_S
    pool: Any
    counters: Any

    def __init__(self) -> None:
        self.callers: dict[bytes, Caller] = {}
        self.lines: list[Any] = []

    @asynccontextmanager
    async def open(self, app: FastAPI) -> AsyncIterator[None]:
        """Connect, for as long as the application lives."""
        self.pool = await asyncpg.create_pool(
            os.environ["REFERENCE_DATABASE_URL"],
            min_size=CONNECTIONS,
            max_size=CONNECTIONS,
            max_queries=2**31,
            max_inactive_connection_lifetime=0,
            reset=reset_nothing,
            statement_cache_size=100,
            max_cached_statement_lifetime=0,
            # Left to itself PostgreSQL would plan searches anew each time, which takes longer than they do.
            server_settings={"plan_cache_mode": "force_generic_plan"},
        )
        self.counters = redis.asyncio.Redis.from_url(os.environ["REFERENCE_REDIS_URL"])
        yield
        await self.pool.close()
        for line in self.lines:
            await line.disconnect()
        await self.counters.aclose()

    async def serve(
        self,
        request: Request,
        known: Mapping[str, Callable[[str], Any]],
        work: Callable[[Mapping[str, Any]], Awaitable[Answer]],
    ) -> Response:
        """Let the caller in, read the query string, do the work, and stamp the answer."""
        caller = None
        try:
            caller = await self.identify(request)
            count, now = await self.count(caller), int(time.time())
            if count > caller.per_minute:
                raise RequestRejected(429, "rate_limit_exceeded", "The allowance of this minute is used up.")
            output = await work(read_query(request.scope["query_string"], known))
        except RequestRejected as refused:
            identity = new_id("req")
            error = {"code": refused.code, "message": refused.message, "param": refused.param}
            body = orjson.dumps({"error": {**error, "request_id": identity, "details": []}})
            head = [*FIXED, (b"x-request-id", identity.encode()), (b"content-length", b"%d" % len(body))]
            return BytesResponse(refused.status, head, body)
        window = now - now % WINDOW_S + WINDOW_S
        left = max(0, caller.per_minute - count)
        etag = hashlib.blake2b(output.content or output.body, digest_size=16, key=SECRET).hexdigest()
        quoted = f'W/"{etag}"' if output.content is not None else f'"{etag}"'
        head = [
            *FIXED,
            (b"etag", quoted.encode()),
            (b"cache-control", output.caching),
            (b"x-ratelimit-limit", b"%d" % caller.per_minute),
            (b"x-ratelimit-remaining", b"%d" % left),
            (b"x-ratelimit-reset", b"%d" % window),
            (b"ratelimit-policy", b'"data";q=%d;w=%d' % (caller.per_minute, WINDOW_S)),
            (b"ratelimit", b'"data";r=%d;t=%d' % (left, window - now)),
            (b"x-request-id", new_id("req").encode()),
            (b"x-tier", caller.tier),
        ]
        known_tag = request.headers.get("if-none-match")
        if known_tag is not None and etag in known_tag:
            return BytesResponse(304, head, b"")
        head.append((b"content-length", b"%d" % len(output.body)))
        return BytesResponse(200, head, output.body)

    async def identify(self, request: Request) -> Caller:
        """Whose key this is. Raises Refused."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise RequestRejected(401, "invalid_credentials", "A key is needed here.")
        name = hashlib.sha256(token.encode()).digest()
        caller = self.callers.get(name)
        if caller is None or caller.until < time.monotonic():
            row = await self.pool.fetchrow(KEY, name)
            if row is None:
                raise RequestRejected(401, "invalid_credentials", "This key is not one of ours.")
            tier, rate = row["tier"] or "free", row["per_minute"] or 60
            caller = Caller(row["id"].hex, tier.encode(), rate, time.monotonic() + REMEMBERED_S)
            self.callers[name] = caller
        return caller

    async def count(self, caller: Caller) -> int:
        """This call among those of the minute: one round trip."""
        name = f"reference:{caller.bucket}:{int(time.time()) // self.window_s}"
        line = self.lines.pop() if self.lines else self.counters.connection_pool.make_connection()
        if not line.is_connected:
            await line.connect()
        # What a pipeline of the client does, at half its cost; a connection on which this fails is not used again.
        await line.send_packed_command(
            line.pack_commands([("SET", name, 0, "EX", self.window_s, "NX"), ("INCR", name)]), check_health=False
        )
        await line.read_response()
        count = int(await line.read_response())
        self.lines.append(line)
        return count


def read_query(text: bytes, known: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
    """The parameters, each read by its reader. Raises Refused for an unknown, a repeated and a wrong one."""
    found: dict[str, Any] = {}
    if not text:
        return found
    for name, value in parse_qsl(text.decode("latin-1"), keep_blank_values=True):
        reader = known.get(name)
        if reader is None:
            raise RequestRejected(
                400, "invalid_request", f"Unknown parameter `{name}`. Known: {', '.join(known)}.", name
            )
        if name in found:
            raise RequestRejected(400, "invalid_request", f"`{name}` is given twice.", name)
        try:
            found[name] = reader(value)
        except ValueError as error:
            raise RequestRejected(400, "invalid_request", str(error), name) from error
    return found


def slug_of(request: Request) -> str:
    """The slug of the path. Raises Refused for what cannot be one."""
    slug: str = request.path_params["slug"]
    if not SLUG.fullmatch(slug):
        raise not_found_error()
    return slug


def not_found_error() -> RequestRejected:
    """The answer where there is no such restaurant."""
    return RequestRejected(404, "not_found", "There is no restaurant of this slug.")


def integer_param(minimum: int, maximum: int) -> Callable[[str], int]:
    """A reader of whole numbers within bounds."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not minimum <= int(text) <= maximum:
            raise ValueError(f"A whole number from {minimum} to {maximum}.")
        return int(text)

    return read


def choice_param(*words: str) -> Callable[[str], str]:
    """A reader of one of a few words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"One of {', '.join(words)}.")
        return text

    return read


def lat_lng_param(text: str) -> tuple[float, float]:
    """A reader of latitude and longitude."""
    latitude, _, longitude = text.partition(",")
    place = float(latitude), float(longitude)
    if not (-85 <= place[0] <= 85 and -180 <= place[1] <= 180):
        raise ValueError("Latitude within 85 degrees and longitude within 180.")
    return place


def encode(prefix: str, value: Any) -> str:
    """A public id: 128 bits in 26 letters, ten bits at a time."""
    number = value.int
    return prefix + "_" + "".join([PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def new_id(prefix: str) -> str:
    """A fresh one."""
    return encode(prefix, uuid7())


def cursor(*after: object) -> str:
    """Where the next page begins, signed."""
    text = orjson.dumps(after, default=str)
    return urlsafe_b64encode(hmac.digest(SECRET, text, "sha256")[:16] + text).decode()
