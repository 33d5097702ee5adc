"""What is sent: the body of an event, its signature, and what came back (Standard Webhooks 1.0)."""

import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

import httpcore
from standardwebhooks import Webhook

from accounts.models import Event, WebhookEndpoint
from accounts.webhooks import signing_secrets, ssrf_guard
from framework.errors import InvalidRequest
from framework.resilience.deadline import Deadline

TIMEOUT_S = 15.0
MOST_KEPT = 1024
LONGEST_ERROR = 300
# Who takes longer than this to answer is slow.
SLOW_S = 5.0
# Longer than this no receiver makes us wait.
LONGEST_WAIT = timedelta(hours=24)
USER_AGENT = "Tablewire-Webhooks/1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one try: a status with the beginning of the answer, or the error in whose place there is none."""

    status: int | None = None
    answer: str = ""
    error: str = ""
    wait: timedelta | None = None
    is_slow: bool = False

    @property
    def arrived(self) -> bool:
        """Whether the receiver has it."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether the receiver wants no more."""
        return self.status == 410


def body_of(event: Event) -> bytes:
    """The body: the same bytes on each try, as the row of an event never changes."""
    content = {
        "type": event.type,
        "timestamp": event.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "data": event.record,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def headers_of(event: Event, endpoint: WebhookEndpoint, *, now: datetime) -> dict[str, str]:
    """The headers of a try at this moment. Raises SecretUnreadable where the secret cannot be read."""
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": event.public_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signatures(event, endpoint, now=now),
    }


def signatures(event: Event, endpoint: WebhookEndpoint, *, now: datetime) -> str:
    """By the secret, and for a day after a rotation by the one before it too. Raises SecretUnreadable."""
    keys = [signing_secrets.decrypt(endpoint.secret)]
    if endpoint.old_secret is not None and endpoint.old_secret_until is not None and now < endpoint.old_secret_until:
        try:
            keys.append(signing_secrets.decrypt(endpoint.old_secret))
        except signing_secrets.SecretUnreadable:
            # The new one alone says enough.
            keys = keys[:1]
    text = body_of(event).decode()
    return " ".join(Webhook(key).sign(event.public_id, now.astimezone(UTC), text) for key in keys)


def send(
    event: Event,
    endpoint: WebhookEndpoint,
    *,
    now: datetime,
    timeout_s: float = TIMEOUT_S,
    resolver: ssrf_guard.Resolver = ssrf_guard.look_up,
    trusts: ssl.SSLContext | None = None,
) -> Outcome:
    """Send the event once. Never raises for what the receiver or the network does; takes no longer than the timeout.

    Nothing is asked of the database. Redirects are not followed, and no proxy of the environment is used.
    """
    begun = time.monotonic()
    outcome = attempt(event, endpoint, now=now, timeout_s=timeout_s, resolver=resolver, trusts=trusts)
    return replace(outcome, is_slow=time.monotonic() - begun >= min(SLOW_S, timeout_s))


def attempt(
    event: Event,
    endpoint: WebhookEndpoint,
    *,
    now: datetime,
    timeout_s: float,
    resolver: ssrf_guard.Resolver,
    trusts: ssl.SSLContext | None,
) -> Outcome:
    """Send the event, and put into words what stands in the way."""
    try:
        headers = headers_of(event, endpoint, now=now)
        to = ssrf_guard.read(endpoint.url)
        return exchange(
            to,
            headers,
            body_of(event),
            now=now,
            timeout_s=timeout_s,
            resolver=resolver,
            trusts=trusts or authorities(),
        )
    except TimeoutError:
        why = f"no answer within {timeout_s:g} s"
    except InvalidRequest as error:
        why = error.message
    except (signing_secrets.SecretUnreadable, ssrf_guard.Forbidden) as error:
        why = str(error)
    except ssl.SSLError as error:
        why = f"TLS: {error.reason or error}"
    except (OSError, httpcore.NetworkError, httpcore.ProtocolError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Outcome(error=printable(why)[:LONGEST_ERROR])


def exchange(
    to: ssrf_guard.Destination,
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: datetime,
    timeout_s: float,
    resolver: ssrf_guard.Resolver,
    trusts: ssl.SSLContext,
) -> Outcome:
    """Send and read on one connection of its own. Raises Forbidden, OSError and httpcore's errors."""
    guard = ssrf_guard.Guard(deadline=Deadline.after(timeout_s), resolver=resolver)
    url = httpcore.URL(scheme=to.scheme, host=to.host, port=to.port, target=to.target)
    with (
        httpcore.ConnectionPool(ssl_context=trusts, network_backend=guard) as connections,
        connections.stream("POST", url, headers=list(headers.items()), content=body) as response,
    ):
        said = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Outcome(
            status=response.status,
            answer=beginning(response),
            wait=wait_of(said.get("retry-after"), now=now) if response.status in (429, 503) else None,
        )


def beginning(response: httpcore.Response) -> str:
    """The first bytes of an answer, as far as they come: the status has said already what became of the event."""
    content = b""
    try:
        for chunk in response.iter_stream():
            content += chunk
            if len(content) >= MOST_KEPT:
                break
    except (OSError, httpcore.NetworkError, httpcore.ProtocolError):
        return printable(content[:MOST_KEPT].decode(errors="replace"))
    return printable(content[:MOST_KEPT].decode(errors="replace"))


def printable(text: str) -> str:
    """The text without what would not be seen, or not be stored."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def wait_of(value: str | None, *, now: datetime) -> timedelta | None:
    """How long a receiver asks us to wait (Retry-After, RFC 9110): seconds or a date; None for anything else."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(timedelta(seconds=int(value[:9])), LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return max(timedelta(), min(moment - now, LONGEST_WAIT))


@lru_cache(maxsize=1)
def authorities() -> ssl.SSLContext:
    """Whose certificates are believed. Reading them takes 20 ms, so once."""
    return httpcore.default_ssl_context()
