"""Reads JSON documents at URLs that strangers name, by the guard against SSRF that webhooks use."""

import ssl
from typing import Any

import httpcore
import orjson

from accounts.webhooks import address_limit, ssrf_guard
from accounts.webhooks.http_client import get_ssl_context
from framework.errors import ApiError
from framework.resilience.bulkhead import Bulkhead
from framework.resilience.deadline import Deadline

MAX_BYTES = 16 * 1024
TIMEOUT_S = 3.0
# A reader that waits for another one gives up after this time, and at once while a server hangs.
MAX_QUEUE_S = 0.25


class UnreadableDocument(Exception):
    """The URL, its answer or the document is not acceptable. The message is for the log."""


class TooManyReaders(Exception):
    """As many documents as may be are being read. Nothing is known of this one."""


class MalformedDocument(UnreadableDocument):
    """The document was read, and is no JSON object or too large."""


def read_document(
    url: str,
    *,
    user_agent: str,
    policy: str,
    readers: Bulkhead,
    max_bytes: int = MAX_BYTES,
    resolver: ssrf_guard.Resolver = ssrf_guard.resolve,
    ssl_context: ssl.SSLContext | None = None,
) -> dict[str, Any]:
    """Return the JSON object at the URL. Follows no redirect, and waits for TIMEOUT_S at most.

    `policy` names the limit of requests to one address. `readers` are the threads of this process that may wait for
    such a document, so that a server that hangs cannot block all of them.
    Raises UnreadableDocument, MalformedDocument, TooManyReaders.
    """
    with readers.slot() as is_admitted:
        if not is_admitted:
            raise TooManyReaders
        content = fetch(url, user_agent, policy, max_bytes, resolver, ssl_context)
    try:
        values = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise MalformedDocument("it is no JSON") from error
    if not isinstance(values, dict):
        raise MalformedDocument("it is no JSON object")
    return values


def fetch(
    url: str,
    user_agent: str,
    policy: str,
    max_bytes: int,
    resolver: ssrf_guard.Resolver,
    ssl_context: ssl.SSLContext | None,
) -> bytes:
    """Return what is at the URL. Raises UnreadableDocument, MalformedDocument."""
    guard = ssrf_guard.GuardedBackend(deadline=Deadline.after(TIMEOUT_S), resolver=resolver, policy=policy)
    headers = {"Accept": "application/json", "User-Agent": user_agent}
    try:
        target = ssrf_guard.parse_url(url)
        with (
            httpcore.ConnectionPool(
                ssl_context=ssl_context or get_ssl_context(), network_backend=guard
            ) as connections,
            connections.stream("GET", target, headers=list(headers.items())) as response,
        ):
            if response.status != 200:
                raise UnreadableDocument(f"it was answered with {response.status}")
            content = b""
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > max_bytes:
                    raise MalformedDocument(f"it is larger than {max_bytes} bytes")
    except (OSError, ssrf_guard.AddressForbidden, address_limit.AddressBusy, ApiError) as error:
        raise UnreadableDocument(str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        raise UnreadableDocument(type(error).__name__) from error
    return content
