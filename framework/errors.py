"""API errors: their codes, statuses and base classes. Pure Python, so that models may raise them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, ClassVar, Self


class ErrorCode(StrEnum):
    """Every value of `error.code`, with its HTTP status."""

    status: int

    def __new__(cls, value: str, status: int) -> Self:
        code = str.__new__(cls, value)
        code._value_ = value
        code.status = status
        return code

    RENAMED = "renamed", 308
    INVALID_REQUEST = "invalid_request", 400
    INVALID_TRANSITION = "invalid_transition", 400
    SLOT_UNAVAILABLE = "slot_unavailable", 400
    OUTSIDE_SERVICE_HOURS = "outside_service_hours", 400
    HOLD_ENDED = "hold_ended", 400
    TOO_MANY_HOLDS = "too_many_holds", 400
    TOO_MANY_WEBHOOKS = "too_many_webhooks", 400
    WEBHOOK_DISABLED = "webhook_disabled", 400
    SECRET_ROTATION_IN_PROGRESS = "secret_rotation_in_progress", 400
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused", 400
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress", 400
    CLOCK_ADVANCING = "clock_advancing", 400
    PLACE_NOT_RESOLVED = "place_not_resolved", 400
    INVALID_PAYMENT = "invalid_payment", 400
    MISSING_CREDENTIALS = "missing_credentials", 401
    INVALID_CREDENTIALS = "invalid_credentials", 401
    EXPIRED_API_KEY = "expired_api_key", 401
    REVOKED_API_KEY = "revoked_api_key", 401
    INSUFFICIENT_SCOPE = "insufficient_scope", 401
    PAYMENT_REQUIRED = "payment_required", 402
    PAYMENT_REJECTED = "payment_rejected", 402
    PAYMENT_ALREADY_USED = "payment_already_used", 402
    TRANSACTION_NOT_FOUND = "transaction_not_found", 402
    TIER_REQUIRED = "tier_required", 403
    SPENDING_LIMIT_REACHED = "spending_limit_reached", 403
    FOREIGN_ORIGIN = "foreign_origin", 403
    NOT_FOUND = "not_found", 404
    METHOD_NOT_ALLOWED = "method_not_allowed", 405
    EXPORT_NOT_READY = "export_not_ready", 409
    SLOT_FULL = "slot_full", 409
    DEPOSIT_REQUIRED = "deposit_required", 409
    OFFER_EXPIRED = "offer_expired", 409
    PAYMENT_IDENTIFIER_REUSED = "payment_identifier_reused", 409
    TOO_MANY_BOOKINGS = "too_many_bookings", 409
    GONE = "gone", 410
    VERSION_CONFLICT = "version_conflict", 412
    RANGE_NOT_SATISFIABLE = "range_not_satisfiable", 416
    RATE_LIMIT_EXCEEDED = "rate_limit_exceeded", 429
    INTERNAL_ERROR = "internal_error", 500
    SERVICE_UNAVAILABLE = "service_unavailable", 503
    FACILITATOR_UNAVAILABLE = "facilitator_unavailable", 503
    SETTLEMENT_PENDING = "settlement_pending", 503


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request: the parameter (`items[0].quantity`) and what to do about it."""

    param: str | None
    message: str


class ApiError(Exception):
    """An anticipated error: the base of all errors that the APIs answer with.

    A subclass stands beside the rule that raises it and sets `code`; the message is written for API clients. `details`
    lists all problems, the one of the message among them. `extra` is added to the error body
    (`{"suggestions": [...]}`), `headers` to the response. `body_override` replaces the error body where another
    protocol defines it (the 402 of x402).
    """

    code: ClassVar[ErrorCode] = ErrorCode.INVALID_REQUEST
    # Members of `extra` with texts of others, which the message leaves out; clients that show the message quote them.
    quoted: ClassVar[Sequence[str]] = ()
    body_override: Mapping[str, Any] | None = None

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        details: Sequence[Problem] = (),
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.details = list(details) or ([Problem(param, message)] if param else [])
        self.extra = dict(extra or {})
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return self.code.status


class InvalidRequest(ApiError):
    """A missing or invalid parameter, or a malformed request."""


class NotFound(ApiError):
    """The resource does not exist, or not for this client."""

    code = ErrorCode.NOT_FOUND

    def __init__(self, message: str = "There is nothing at this address.", **rest: Any) -> None:
        super().__init__(message, **rest)


class Renamed(ApiError):
    """The resource has a new name. The response redirects: `former` in the path becomes `name`."""

    code = ErrorCode.RENAMED

    def __init__(self, message: str, *, former: str, name: str, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.former = former
        self.name = name


class ServiceUnavailable(ApiError):
    """A service that this request needs is unavailable; nothing was done."""

    code = ErrorCode.SERVICE_UNAVAILABLE

    def __init__(self, message: str = "The service is not available for a moment. Try again.", **rest: Any) -> None:
        rest.setdefault("headers", {"Retry-After": "2"})
        super().__init__(message, **rest)


def unknown_name(kind: str, name: str, known: Sequence[str]) -> Problem:
    """The problem of an unknown parameter, field or value, with the most similar known one."""
    similar = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f" Did you mean `{similar[0]}`?" if similar else ""
    choices = f"Known: {', '.join(known)}." if known else "None is known here."
    return Problem(param=name, message=f"Unknown {kind} `{name}`.{hint} {choices}")
