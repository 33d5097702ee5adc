"""Which requests are sent again, and when."""

import email.utils
import random
import time
from dataclasses import dataclass

import httpx

SAFE_TO_REPEAT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
SERVER_ERRORS = (500, 502, 503, 504)


@dataclass(frozen=True)
class Retries:
    """Requests are sent up to `max_tries` times, if they are safe to repeat or have an Idempotency-Key.

    The pause is the Retry-After of the answer, or up to `first_pause_s` doubled with each try, and random so that
    clients spread. A Retry-After above `max_pause_s` is not waited for: the error is raised, with `retry_after_s`.
    """

    max_tries: int = 4
    first_pause_s: float = 0.5
    max_pause_s: float = 60

    def pause_s(
        self, request: httpx.Request, outcome: httpx.Response | httpx.TransportError, tries: int
    ) -> float | None:
        """How long to wait before the next try; None if there is none."""
        if tries >= self.max_tries or not (request.method in SAFE_TO_REPEAT or "Idempotency-Key" in request.headers):
            return None
        jitter = random.uniform(0, min(self.first_pause_s * 2 ** (tries - 1), self.max_pause_s))
        if isinstance(outcome, httpx.TransportError):
            return jitter
        if not outcome.is_error:
            # An export in progress is answered 200 with a Retry-After.
            return None
        asked = retry_after_s(outcome)
        if asked is None:
            return jitter if outcome.status_code in (429, *SERVER_ERRORS) else None
        # Not only 429 and 503: a call whose first try is in progress, or a transfer not yet seen on the chain.
        return asked + min(jitter, self.first_pause_s) if asked <= self.max_pause_s else None


def retry_after_s(response: httpx.Response) -> float | None:
    """The Retry-After of an answer, in seconds or as a date; None without a valid one."""
    value = response.headers.get("Retry-After", "")
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
