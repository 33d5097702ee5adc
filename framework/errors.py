"""API errors: their codes, statuses and base classes. Pure Python, so that models may raise them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """Every value of `error.code`; HTTP_STATUS has the status of each."""

    RENAMED = "renamed"
    INVALID_REQUEST = "invalid_request"
    INVALID_TRANSITION = "invalid_transition"
    SLOT_UNAVAILABLE = "slot_unavailable"
    OUTSIDE_SERVICE_HOURS = "outside_service_hours"
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    PLACE_NOT_RESOLVED = "place_not_resolved"
    INVALID_PAYMENT = "invalid_payment"
    MISSING_CREDENTIALS = "missing_credentials"
    INVALID_CREDENTIALS = "invalid_credentials"
    EXPIRED_API_KEY = "expired_api_key"
    REVOKED_API_KEY = "revoked_api_key"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    PAYMENT_REQUIRED = "payment_required"
    PAYMENT_REJECTED = "payment_rejected"
    PAYMENT_ALREADY_USED = "payment_already_used"
    TRANSACTION_NOT_FOUND = "transaction_not_found"
    TIER_REQUIRED = "tier_required"
    FOREIGN_ORIGIN = "foreign_origin"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    EXPORT_NOT_READY = "export_not_ready"
    SLOT_FULL = "slot_full"
    OFFER_EXPIRED = "offer_expired"
    PAYMENT_IDENTIFIER_REUSED = "payment_identifier_reused"
    TOO_MANY_BOOKINGS = "too_many_bookings"
    GONE = "gone"
    VERSION_CONFLICT = "version_conflict"
    RANGE_NOT_SATISFIABLE = "range_not_satisfiable"
    RATE_LIMIT_EXCEEDED = "rate_limit_exceeded"
    INTERNAL_ERROR = "internal_error"
    SERVICE_UNAVAILABLE = "service_unavailable"
    FACILITATOR_UNAVAILABLE = "facilitator_unavailable"
    SETTLEMENT_PENDING = "settlement_pending"


HTTP_STATUS: Mapping[ErrorCode, int] = {
    ErrorCode.RENAMED: 308,
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INVALID_TRANSITION: 400,
    ErrorCode.SLOT_UNAVAILABLE: 400,
    ErrorCode.OUTSIDE_SERVICE_HOURS: 400,
    ErrorCode.IDEMPOTENCY_KEY_REUSED: 400,
    ErrorCode.IDEMPOTENCY_IN_PROGRESS: 400,
    ErrorCode.PLACE_NOT_RESOLVED: 400,
    ErrorCode.INVALID_PAYMENT: 400,
    ErrorCode.MISSING_CREDENTIALS: 401,
    ErrorCode.INVALID_CREDENTIALS: 401,
    ErrorCode.EXPIRED_API_KEY: 401,
    ErrorCode.REVOKED_API_KEY: 401,
    ErrorCode.INSUFFICIENT_SCOPE: 401,
    ErrorCode.PAYMENT_REQUIRED: 402,
    ErrorCode.PAYMENT_REJECTED: 402,
    ErrorCode.PAYMENT_ALREADY_USED: 402,
    ErrorCode.TRANSACTION_NOT_FOUND: 402,
    ErrorCode.TIER_REQUIRED: 403,
    ErrorCode.FOREIGN_ORIGIN: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.EXPORT_NOT_READY: 409,
    ErrorCode.SLOT_FULL: 409,
    ErrorCode.OFFER_EXPIRED: 409,
    ErrorCode.PAYMENT_IDENTIFIER_REUSED: 409,
    ErrorCode.TOO_MANY_BOOKINGS: 409,
    ErrorCode.GONE: 410,
    ErrorCode.VERSION_CONFLICT: 412,
    ErrorCode.RANGE_NOT_SATISFIABLE: 416,
    ErrorCode.RATE_LIMIT_EXCEEDED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.SERVICE_UNAVAILABLE: 503,
    ErrorCode.FACILITATOR_UNAVAILABLE: 503,
    ErrorCode.SETTLEMENT_PENDING: 503,
}


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
        return HTTP_STATUS[self.code]


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
