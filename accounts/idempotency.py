"""Idempotency-Key: a request with a key has one effect, and each repetition gets the stored response.

The response is stored in the transaction of the effect, so that a crash leaves both or neither, and no lock. A
concurrent request with the same key waits on the unique index, for at most PostgreSQL's lock_timeout.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import UUID

import orjson
import psycopg
from django.db import OperationalError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import IdempotentCall
from framework.api.json_parser import read_body
from framework.api.renderers import JSONRenderer
from framework.db import prepared_statements
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import new_id

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"
SCHEMA = {"type": "string", "pattern": KEY_PATTERN}

PARAMETERS = [
    OpenApiParameter(
        HEADER,
        SCHEMA,
        OpenApiParameter.HEADER,
        description="Any text of yours. Sent again within 24 hours, the same request has no second effect.",
    ),
    OpenApiParameter(
        REPLAYED_HEADER,
        {"type": "string", "enum": ["true"]},
        OpenApiParameter.HEADER,
        response=[201],
        description="Present if this is the stored response to an earlier request with the same Idempotency-Key.",
    ),
]

# Claims the key, also of a row past its retention. The statement locks the row in any case, so that the purge cannot
# delete a row that is not claimed before it is read.
CLAIM = """
    INSERT INTO accounts_idempotentcall AS before (id, scope, key, operation, body_sha256, headers, created_at)
    VALUES (%(id)s, %(scope)s, %(key)s, %(operation)s, %(body_sha256)s, '{}', %(now)s)
    ON CONFLICT (scope, key) DO UPDATE
    SET id = excluded.id, operation = excluded.operation, body_sha256 = excluded.body_sha256, headers = '{}',
        status = NULL, body = NULL, created_at = excluded.created_at
    WHERE before.created_at <= %(expired)s
    RETURNING id
"""

STORE = """
    UPDATE accounts_idempotentcall SET status = %(status)s, headers = %(headers)s::jsonb, body = %(body)s
    WHERE id = %(id)s
    RETURNING id
"""


class IdempotencyKeyReused(ApiError):
    """The key was used with another request before."""

    code = ErrorCode.IDEMPOTENCY_KEY_REUSED


class IdempotencyInProgress(ApiError):
    """The first request with this key has not finished."""

    code = ErrorCode.IDEMPOTENCY_IN_PROGRESS


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentRequest:
    """The identity of a request: the owner of its key, the key, method and path, and the hash of its body.

    `key_name` is what the caller calls the key in messages.
    """

    scope: str
    key: str
    operation: str
    body_sha256: bytes
    key_name: str = HEADER


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """A response that repetitions get: bytes, and for HTTP a status and headers.

    With `replayed_body` they get that instead, because the body has a secret, which is not stored.
    """

    body: bytes
    replayed_body: bytes | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def respond_once(
    request: HttpRequest | Request, *, scope: str, effect: Callable[[], HttpResponse], secret: str | None = None
) -> HttpResponse:
    """Return the response of `effect`, which runs once for each Idempotency-Key of the scope.

    Without the header this only calls `effect`. Otherwise `effect` runs in a transaction. An exception rolls back
    everything and leaves the key unused, so that the caller can correct the request. Successful responses are stored
    for 24 hours with body, Location, ETag and other headers. `secret` names a field of
    the body that is stored as null.
    Raises InvalidRequest, IdempotencyKeyReused, IdempotencyInProgress, and what `effect` raises. Two statements
    besides those of the effect.
    """
    key = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        return effect()
    call = identify_request(request, scope=scope, key=key)

    def run_effect() -> StoredResponse:
        response = effect()
        headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
        # A response of DRF is not rendered yet.
        body = JSONRenderer().render(response.data) if isinstance(response, Response) else response.content
        replayed = None if secret is None else JSONRenderer().render({**orjson.loads(body), secret: None})
        return StoredResponse(body=body, replayed_body=replayed, status=response.status_code, headers=headers)

    stored = run_once(call, run_effect)
    return HttpResponse(
        stored.body, content_type=JSONRenderer.media_type, status=stored.status, headers=dict(stored.headers)
    )


def identify_request(request: HttpRequest | Request, *, scope: str, key: str) -> IdempotentRequest:
    """Return the identity of a request with this key. Raises InvalidRequest for a malformed key."""
    if not re.fullmatch(KEY_PATTERN, key):
        raise InvalidRequest(f"`{HEADER}` must be 1 to 255 visible ASCII characters.", param=HEADER)
    return IdempotentRequest(
        scope=scope,
        key=key,
        operation=f"{request.method} {request.path.rstrip('/')}",
        body_sha256=hashlib.sha256(read_body(request)).digest(),
    )


def run_once(
    call: IdempotentRequest,
    effect: Callable[[], StoredResponse],
    *,
    is_valid: Callable[[StoredResponse], bool] | None = None,
) -> StoredResponse:
    """Return the response to this request, whose effect runs once; see `respond_once`.

    If the stored response is no longer valid, the effect runs again and its response replaces the stored one. Of two
    concurrent requests that find it invalid, the second waits for the first and gets its response.
    """
    with transaction.atomic():
        now = timezone.now()
        row_id = claim(call, now=now)
        if row_id is None:
            stored = read_stored_response(call)
            if is_valid is None or is_valid(stored):
                return stored
            rows = IdempotentCall.objects.filter(scope=call.scope, key=call.key)
            rows.update(created_at=now)
            row_id = rows.values_list("pk", flat=True).get()
        response = effect()
        headers = orjson.dumps(dict(response.headers)).decode()
        body = response.body if response.replayed_body is None else response.replayed_body
        values = {"id": row_id, "status": response.status, "headers": headers, "body": body}
        prepared_statements.execute_returning(STORE, values)
        return response


def find_response(call: IdempotentRequest) -> StoredResponse | None:
    """Return the response to an earlier identical request; None without one. Two queries, one without one.

    Raises IdempotencyKeyReused if the key belongs to another request.
    """
    recent = timezone.now() - IdempotentCall.RETENTION
    is_used = IdempotentCall.objects.filter(scope=call.scope, key=call.key, created_at__gt=recent).exists()
    return read_stored_response(call) if is_used else None


def claim(call: IdempotentRequest, *, now: datetime) -> UUID | None:
    """Return the row for the response to this request, or None if an earlier request was answered.

    Waits for a concurrent request with the same key. Raises IdempotencyInProgress after lock_timeout.
    """
    values = asdict(call) | {"id": new_id(), "now": now, "expired": now - IdempotentCall.RETENTION}
    try:
        claimed = prepared_statements.execute_returning(CLAIM, values)
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise
        raise IdempotencyInProgress(
            f"The first request with this `{call.key_name}` is still in progress. Send it again in a second.",
            headers={"Retry-After": "1"},
        ) from error
    return claimed[0][0] if claimed else None


def read_stored_response(call: IdempotentRequest) -> StoredResponse:
    """Return the stored response of the key. Raises IdempotencyKeyReused if it belongs to another request."""
    row = IdempotentCall.objects.get(scope=call.scope, key=call.key)
    if row.operation != call.operation or bytes(row.body_sha256) != call.body_sha256:
        other = "another body" if row.operation == call.operation else f"`{row.operation}`"
        message = f"This `{call.key_name}` was used with {other} before. Use a new one."
        raise IdempotencyKeyReused(message, param=call.key_name)
    headers = {**row.headers, REPLAYED_HEADER: "true"}
    return StoredResponse(body=bytes(row.body or b""), status=row.status or 200, headers=headers)
