"""httpx clients that retry, pay and raise."""

import asyncio
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any

import httpx

from tablewire_client._keyed_operations import KEYED_OPERATIONS
from tablewire_client.errors import ApiError
from tablewire_client.payment import Payer
from tablewire_client.retries import Retries, retry_after_s

# A parameter of a path is one segment.
KEYED = [(method, re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$")) for method, path in KEYED_OPERATIONS]


@dataclass(frozen=True)
class Rules:
    """What both kinds of client do with a request and its response."""

    retries: Retries
    payer: Payer | None

    def add_idempotency_key(self, request: httpx.Request) -> None:
        """Give a request a key if its operation takes one, so that its tries have one effect."""
        if "Idempotency-Key" not in request.headers and any(
            request.method == method and path.search(request.url.path) for method, path in KEYED
        ):
            request.headers["Idempotency-Key"] = str(uuid.uuid4())

    def pay(self, request: httpx.Request, response: httpx.Response) -> bool:
        """Add a payment to the request if the response asks for one; whether it did."""
        if response.status_code != 402 or self.payer is None or "PAYMENT-SIGNATURE" in request.headers:
            return False
        request.headers.update(self.payer.headers(response))
        return True

    def check(self, response: httpx.Response) -> httpx.Response:
        """Raise ApiError for an error."""
        if response.is_error:
            raise ApiError.from_response(response, retry_after_s=retry_after_s(response))
        return response


class HttpClient(httpx.Client):
    """Sends a request as often as the rules allow."""

    def __init__(self, rules: Rules, **options: Any) -> None:
        super().__init__(**options)
        self._rules = rules

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send the request, and if it is to be paid, send it again with a payment.

        Raises ApiError, PaymentNotMade and, after the last try, httpx.TransportError.
        """
        self._rules.add_idempotency_key(request)
        response = self._send_with_retries(request, **options)
        if self._rules.pay(request, response):
            response = self._send_with_retries(request, **options)
        return self._rules.check(response)

    def _send_with_retries(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 1
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = super().send(request, **options)
                if outcome.is_error:
                    # Also where the caller streams the content.
                    outcome.read()
            except httpx.TransportError as error:
                outcome = error
            pause_s = self._rules.retries.pause_s(request, outcome, tries)
            if pause_s is None:
                if isinstance(outcome, httpx.TransportError):
                    raise outcome
                return outcome
            time.sleep(pause_s)
            tries += 1


class AsyncHttpClient(httpx.AsyncClient):
    """The same for asyncio."""

    def __init__(self, rules: Rules, **options: Any) -> None:
        super().__init__(**options)
        self._rules = rules

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """As HttpClient.send."""
        self._rules.add_idempotency_key(request)
        response = await self._send_with_retries(request, **options)
        if self._rules.pay(request, response):
            response = await self._send_with_retries(request, **options)
        return self._rules.check(response)

    async def _send_with_retries(self, request: httpx.Request, **options: Any) -> httpx.Response:
        tries = 1
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await super().send(request, **options)
                if outcome.is_error:
                    await outcome.aread()
            except httpx.TransportError as error:
                outcome = error
            pause_s = self._rules.retries.pause_s(request, outcome, tries)
            if pause_s is None:
                if isinstance(outcome, httpx.TransportError):
                    raise outcome
                return outcome
            await asyncio.sleep(pause_s)
            tries += 1
