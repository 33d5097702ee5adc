"""The HTTP client of webhooks: renders, signs (Standard Webhooks 1.0) and sends an event, and reads the response."""

import json
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import httpcore
from standardwebhooks import Webhook

from accounts.models import Event, WebhookEndpoint
from accounts.webhooks import address_limit, signing_secrets, ssrf_guard
from framework.encryption import CannotDecrypt
from framework.errors import InvalidRequest
from framework.resilience.deadline import Deadline

TIMEOUT_S = 15.0
MAX_RESPONSE_BYTES = 1024
MAX_ERROR_LENGTH = 300
# An endpoint is slow if it takes longer than this.
SLOW_S = 5.0
MAX_RETRY_AFTER = timedelta(hours=24)
USER_AGENT = "Tablewire-Webhooks/1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt: a status with the start of the response, or an error.

    With `postponed_for` nothing was sent, because others use up the limit of the address.
    """

    status: int | None = None
    answer: str = ""
    error: str = ""
    retry_after: timedelta | None = None
    is_slow: bool = False
    postponed_for: timedelta | None = None

    @property
    def is_delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver asks for no more events (410)."""
        return self.status == 410


def body_of(event: Event) -> dict[str, Any]:
    """Return the body of the event's webhook."""
    return {
        "type": event.type,
        "timestamp": event.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "data": event.record,
    }


def render_body(event: Event) -> bytes:
    """Return the request body: the same bytes on each attempt, as events never change."""
    return to_bytes(body_of(event))


def to_bytes(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body; the same for the body as `GET /events` has it."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def build_headers(event: Event, endpoint: WebhookEndpoint, *, now: datetime) -> dict[str, str]:
    """Return the headers of an attempt at this time. Raises CannotDecrypt.

    The signatures are those of the secret and, after a rotation, of the previous one.
    """
    keys = [signing_secrets.decrypt(endpoint.secret)]
    if endpoint.old_secret is not None and endpoint.old_secret_until is not None and now < endpoint.old_secret_until:
        # The signature by the current secret is enough if the previous one cannot be decrypted.
        with suppress(CannotDecrypt):
            keys.append(signing_secrets.decrypt(endpoint.old_secret))
    return sign(event.public_id, render_body(event), secrets=keys, now=now)


def sign(event_id: str, body: bytes, *, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """Return the headers of a request with this body, with a signature by each of the secrets."""
    at, text = now.astimezone(UTC), body.decode()
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(event_id, at, text) for secret in secrets),
    }


def send(
    event: Event,
    endpoint: WebhookEndpoint,
    *,
    now: datetime,
    timeout_s: float = TIMEOUT_S,
    resolver: ssrf_guard.Resolver = ssrf_guard.resolve,
    ssl_context: ssl.SSLContext | None = None,
) -> Outcome:
    """Send the event once, within the timeout. Errors of the receiver or the network become an outcome.

    Does not use the database, follows no redirects, and ignores the proxies of the environment.
    """
    started = time.monotonic()
    try:
        outcome = post(
            ssrf_guard.parse_url(endpoint.url),
            build_headers(event, endpoint, now=now),
            render_body(event),
            now=now,
            timeout_s=timeout_s,
            resolver=resolver,
            ssl_context=ssl_context or get_ssl_context(),
        )
    except address_limit.AddressBusy as busy:
        return Outcome(postponed_for=busy.wait)
    except Exception as error:
        message = describe_error(error, timeout_s=timeout_s)
        if message is None:
            raise
        outcome = Outcome(error=replace_unprintable(message)[:MAX_ERROR_LENGTH])
    return replace(outcome, is_slow=time.monotonic() - started >= min(SLOW_S, timeout_s))


def describe_error(error: Exception, *, timeout_s: float) -> str | None:
    """Return a message for the customer, or None for an internal error."""
    match error:
        case TimeoutError():
            return f"no answer within {timeout_s:g} s"
        case InvalidRequest():
            return error.message
        case CannotDecrypt():
            return signing_secrets.UNREADABLE
        case ssrf_guard.AddressForbidden():
            return str(error)
        case ssl.SSLError():
            return f"TLS: {error.reason or error}"
        case OSError() | httpcore.NetworkError() | httpcore.ProtocolError():
            return getattr(error, "strerror", None) or str(error) or type(error).__name__
    return None


def post(
    url: httpcore.URL,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime,
    timeout_s: float,
    resolver: ssrf_guard.Resolver,
    ssl_context: ssl.SSLContext,
    policy: str = "webhooks",
) -> Outcome:
    """Send the request on a connection of its own. Raises AddressForbidden, AddressBusy, OSError, httpcore's errors.

    `policy` names the count of requests to the address (address_limit).
    """
    guard = ssrf_guard.GuardedBackend(deadline=Deadline.after(timeout_s), resolver=resolver, policy=policy)
    with (
        httpcore.ConnectionPool(ssl_context=ssl_context, network_backend=guard) as connections,
        connections.stream("POST", url, headers=list(headers.items()), content=body) as response,
    ):
        response_headers = {name.lower(): value.decode("latin-1") for name, value in response.headers}
        retry_after = response_headers.get(b"retry-after") if response.status in (429, 503) else None
        return Outcome(
            status=response.status,
            answer=read_start(response),
            retry_after=parse_retry_after(retry_after, now=now),
        )


def read_start(response: httpcore.Response) -> str:
    """Return the first bytes of the response body; an error while reading ends it, because the status is known."""
    content = b""
    with suppress(OSError, httpcore.NetworkError, httpcore.ProtocolError):
        for chunk in response.iter_stream():
            content += chunk
            if len(content) >= MAX_RESPONSE_BYTES:
                break
    return replace_unprintable(content[:MAX_RESPONSE_BYTES].decode(errors="replace"))


def replace_unprintable(text: str) -> str:
    """Replace characters that cannot be displayed or stored."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)


def parse_retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Parse Retry-After (RFC 9110), seconds or a date, capped at MAX_RETRY_AFTER; None for anything else."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(timedelta(seconds=int(value[:9])), MAX_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return max(timedelta(), min(at - now, MAX_RETRY_AFTER))


@lru_cache(maxsize=1)
def get_ssl_context() -> ssl.SSLContext:
    """Return the context with the trusted certificates. Cached, because reading them takes 20 ms."""
    return httpcore.default_ssl_context()
