"""Follows the events of a venue over HTTP, and forwards them to a laptop as their webhooks: `manage.py listen`.

It uses `GET /api/v1/events` as any client does, and no database.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from accounts.webhooks import http_client

EVENTS = "/api/v1/events"
FIELDS = ("id", "type", "timestamp", "data")
PAGE_SIZE = 100
# An unchanged answer does not count, for as many an hour as the key has calls: 900 are fewer than 1,000.
INTERVAL_S = 4.0
# For so long after an event more are likely.
BUSY_S, BUSY_INTERVAL_S = 30.0, 1.0
# With less than this share of the calls of the hour left, those are spread over the rest of it.
SCARCE = 0.2
MAX_API_BACKOFF_S, MAX_RECEIVER_BACKOFF_S = 30.0, 5.0
# Events of the last three minutes are listed again: their ids are known.
MAX_KNOWN = 100_000


class ListenError(Exception):
    """The API refuses the request, so that it makes no sense to repeat it. The message is for the person."""


@dataclass(kw_only=True)
class Feed:
    """The events of a venue from now on, each once.

    `api` has the base URL and the key. `report` gets a sentence when the API answers first, when it does not answer,
    and when it does again.
    """

    api: httpx.Client
    types: str = ""
    report: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    known: dict[str, None] = field(default_factory=dict)

    def follow(self) -> Iterator[dict[str, Any]]:
        """Yield events as they become visible, without an end. Raises ListenError."""
        params: dict[str, Any] = {"limit": PAGE_SIZE} | ({"type": self.types} if self.types else {})
        params["created_from"] = f"{self.read_server_time(params):%Y-%m-%dT%H:%M:%SZ}"
        self.report(f"Listening to {self.api.base_url}. Stop with Ctrl-C.")
        last_event_at = time.monotonic()
        cursor, etag = "", ""
        while True:
            response = self.get(params | ({"cursor": cursor} if cursor else {}), etag=etag)
            has_more = False
            if response.status_code == httpx.codes.OK:
                page = read_page(response)
                for event in page["data"]:
                    if event["id"] not in self.known:
                        self.remember(event["id"])
                        last_event_at = time.monotonic()
                        yield event
                # After 304 the walk continues with the cursor that it has.
                cursor, etag = page["pagination"]["next_cursor"], response.headers.get("etag", "")
                has_more = page["pagination"]["has_more"]
            if not has_more:
                is_busy = time.monotonic() - last_event_at < BUSY_S
                self.sleep(get_interval_s(response.headers, BUSY_INTERVAL_S if is_busy else INTERVAL_S))

    def read_server_time(self, params: Mapping[str, Any]) -> datetime:
        """Return the time of the server, by which events are listed; that of this machine if it does not tell."""
        response = self.get({**params, "limit": 1}, etag="")
        try:
            return parsedate_to_datetime(response.headers["date"]).astimezone(UTC)
        except (KeyError, ValueError):
            return datetime.now(UTC)

    def remember(self, event_id: str) -> None:
        self.known[event_id] = None
        if len(self.known) > MAX_KNOWN:
            del self.known[next(iter(self.known))]

    def get(self, params: Mapping[str, Any], *, etag: str) -> httpx.Response:
        """Return an answer with 200 or 304; wait while there is none. Raises ListenError."""
        failures = 0
        while True:
            try:
                response = self.api.get(EVENTS, params=params, headers={"If-None-Match": etag} if etag else {})
            except httpx.RequestError as error:
                problem, wait_s = str(error) or type(error).__name__, get_backoff_s(failures, MAX_API_BACKOFF_S)
            else:
                if response.status_code in (httpx.codes.OK, httpx.codes.NOT_MODIFIED):
                    if failures:
                        self.report("The API answers again.")
                    return response
                problem = describe_refusal(response)
                if response.status_code != httpx.codes.TOO_MANY_REQUESTS and response.status_code < 500:
                    raise ListenError(problem)
                retry_after = get_retry_after_s(response)
                wait_s = get_backoff_s(failures, MAX_API_BACKOFF_S) if retry_after is None else retry_after
            if not failures or wait_s > MAX_API_BACKOFF_S:
                self.report(f"The API does not answer: {problem} Trying again in {wait_s:.0f} s.")
            failures += 1
            self.sleep(wait_s)


@dataclass(frozen=True, kw_only=True)
class Forwarder:
    """Sends events to a receiver as Standard Webhooks requests that are signed with `secret`."""

    receiver: httpx.Client
    url: str
    secret: str
    report: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep

    def forward(self, event: Mapping[str, Any]) -> str:
        """Send an event until the receiver has answered; return the status, or why there was none.

        Any status is an answer, except 429 and 503 with Retry-After. A receiver that is down, or that ends before it
        answers, gets the event again. One that takes longer than TIMEOUT_S does not: it may be stopped in a debugger.
        """
        body = http_client.to_bytes({name: event[name] for name in ("type", "timestamp", "data")})
        failures = 0
        while True:
            headers = http_client.sign(event["id"], body, secrets=[self.secret], now=datetime.now(UTC))
            try:
                # The body of the answer does not matter.
                with self.receiver.stream("POST", self.url, content=body, headers=headers) as answer:
                    response = answer
            except (httpx.ReadTimeout, httpx.WriteTimeout):
                return f"no answer within {http_client.TIMEOUT_S:g} s"
            except httpx.TransportError as error:
                problem, wait_s = str(error) or type(error).__name__, get_backoff_s(failures, MAX_RECEIVER_BACKOFF_S)
            else:
                retry_after = get_retry_after_s(response)
                if response.status_code not in (429, 503) or retry_after is None:
                    return str(response.status_code)
                problem, wait_s = f"status {response.status_code}", retry_after
            if not failures:
                self.report(f"The receiver does not take {event['id']} yet ({problem}). Trying again.")
            failures += 1
            self.sleep(wait_s)


def read_page(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON of a list. Raises ListenError if it is none: another server may answer at this address."""
    try:
        page: dict[str, Any] = response.json()
        events = [{name: event[name] for name in FIELDS} for event in page["data"]]
        pagination = {name: page["pagination"][name] for name in ("has_more", "next_cursor")}
        return {"data": events, "pagination": pagination}
    except (ValueError, TypeError, KeyError) as error:
        raise ListenError(f"{response.url.copy_with(query=None)} does not answer as the API does.") from error


def describe_refusal(response: httpx.Response) -> str:
    """Return the message of an error."""
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, TypeError, KeyError):
        target = response.headers.get("location")
        return f"Status {response.status_code}{f', a redirect to {target}' if target else ''}."


def get_retry_after_s(response: httpx.Response) -> float | None:
    """Return the seconds of Retry-After; None without one that can be read."""
    wait = http_client.parse_retry_after(response.headers.get("retry-after"), now=datetime.now(UTC))
    return None if wait is None else wait / timedelta(seconds=1)


def get_backoff_s(failures: int, maximum: float) -> float:
    """Return the seconds to wait after so many failures before: a half, one, two, and so on."""
    return min(maximum, 0.5 * 2.0 ** min(failures, 10))


def get_interval_s(headers: Mapping[str, str], interval_s: float) -> float:
    """Return the seconds until the next call: more than the interval if few calls of the hour are left."""
    try:
        limit, remaining = int(headers["x-ratelimit-limit"]), int(headers["x-ratelimit-remaining"])
        rest_s = min(3600.0, int(headers["x-ratelimit-reset"]) - time.time())
    except (KeyError, ValueError):
        return interval_s
    if remaining >= SCARCE * limit:
        return interval_s
    return max(interval_s, rest_s / (remaining + 1))
