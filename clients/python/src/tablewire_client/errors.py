"""What a request raises instead of returning a record."""

import json
from typing import Any, Self

import httpx


class ApiError(Exception):
    """The API has answered with an error, after all retries.

    `code` is for programs and `message` for people; `param` names the invalid parameter. Quote `request_id` to the
    operator. `retry_after_s` is how long to wait, where the answer says so. `body` is the whole answer. An answer
    that is not the API's, such as a proxy's, has the code `unknown`.
    """

    def __init__(self, status: int, body: dict[str, Any], *, retry_after_s: float | None = None) -> None:
        failure = body.get("error")
        # The body of a 402 is that of x402, in which `error` is the code and `detail` the message.
        found: dict[str, Any] = failure if isinstance(failure, dict) else {**body, "code": failure}
        self.status = status
        self.body = body
        self.code: str = found.get("code") or "unknown"
        self.message: str = found.get("message") or found.get("detail") or f"The server answered {status}."
        self.param: str | None = found.get("param")
        self.request_id: str | None = found.get("request_id")
        self.details: list[dict[str, Any]] = found.get("details") or []
        self.alternatives: list[str] = found.get("alternatives") or []
        self.retry_after_s = retry_after_s
        super().__init__(
            f"{status} {self.code}: {self.message}" + (f" ({self.request_id})" if self.request_id else "")
        )

    @classmethod
    def from_response(cls, response: httpx.Response, *, retry_after_s: float | None) -> Self:
        """The error of a response that has been read."""
        try:
            body = response.json()
        except (json.JSONDecodeError, UnicodeDecodeError):
            body = None
        return cls(response.status_code, body if isinstance(body, dict) else {}, retry_after_s=retry_after_s)


class PaymentNotMade(Exception):
    """The price is above the payer's limit, or in a currency or network that it cannot pay. Nothing was paid."""
