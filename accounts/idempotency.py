"""Calls that may be sent again: with an Idempotency-Key a call has one effect, and each repetition is answered alike.

The row that remembers the answer is written in the transaction of the effect. So a process that dies leaves both or
neither, and nothing stays locked: a twin that comes meanwhile waits on the unique index, as long as PostgreSQL's
lock_timeout allows.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
from django.db import OperationalError, transaction
from django.http import HttpResponse
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
REPLAYED = "Idempotent-Replayed"
VISIBLE = r"^[\x21-\x7e]{1,255}$"
SCHEMA = {"type": "string", "pattern": VISIBLE}

PARAMETERS = [
    OpenApiParameter(
        HEADER,
        SCHEMA,
        OpenApiParameter.HEADER,
        description="Any text of yours. Sent again within 24 hours, the same request has no second effect.",
    ),
    OpenApiParameter(
        REPLAYED,
        {"type": "string", "enum": ["true"]},
        OpenApiParameter.HEADER,
        response=[201],
        description="There where this is the answer to an earlier request with the same Idempotency-Key.",
    ),
]

# One statement claims the key, also from a row that is too old to be believed. It locks the row in any case, so that
# what it does not claim can be read before the purge comes.
CLAIM = """
    INSERT INTO accounts_idempotentcall AS before (id, scope, key, operation, body_sha256, headers, created_at)
    VALUES (%(id)s, %(scope)s, %(key)s, %(operation)s, %(body_sha256)s, '{}', %(now)s)
    ON CONFLICT (scope, key) DO UPDATE
    SET id = excluded.id, operation = excluded.operation, body_sha256 = excluded.body_sha256, headers = '{}',
        status = NULL, body = NULL, created_at = excluded.created_at
    WHERE before.created_at <= %(forgotten)s
    RETURNING id
"""

KEEP = """
    UPDATE accounts_idempotentcall SET status = %(status)s, headers = %(headers)s::jsonb, body = %(body)s
    WHERE id = %(id)s
    RETURNING id
"""


class Reused(ApiError):
    """The key came with another request before."""

    code = ErrorCode.IDEMPOTENCY_KEY_REUSED


class InProgress(ApiError):
    """The first request with this key has not ended yet."""

    code = ErrorCode.IDEMPOTENCY_IN_PROGRESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What makes a call the same as another: whose it is, its key, its method and path, and the bytes of its body.

    `named` is what its caller calls the key.
    """

    scope: str
    key: str
    operation: str
    body_sha256: bytes
    named: str = HEADER


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is told again: bytes, and over HTTP the status and the headers that go with them."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def once(request: Request, *, scope: str, effect: Callable[[], HttpResponse]) -> HttpResponse:
    """Answer what `effect` answers, and have it take place once for each Idempotency-Key of the scope.

    Without the header this only calls `effect`. Otherwise it is called in a transaction; what it raises undoes
    everything and leaves the key unused, so a call that was refused can be put right. It returns good answers only;
    their bytes, Location, ETag and other headers are kept for 24 hours.
    Raises InvalidRequest, Reused, InProgress, and what `effect` raises. Two statements beside those of the effect.
    """
    key = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        return effect()
    if not re.fullmatch(VISIBLE, key):
        raise InvalidRequest(f"`{HEADER}` must be 1 to 255 visible ASCII characters.", param=HEADER)
    call = Call(
        scope=scope,
        key=key,
        operation=f"{request.method} {request.path.rstrip('/')}",
        body_sha256=hashlib.sha256(read_body(request)).digest(),
    )
    answered = carried_out(call, lambda: rendered(effect()))
    return HttpResponse(
        answered.body, content_type=JSONRenderer.media_type, status=answered.status, headers=dict(answered.headers)
    )


def rendered(response: HttpResponse) -> Answer:
    """A good answer over HTTP, as it will be told again."""
    headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
    # What DRF has yet to render has no content.
    body = JSONRenderer().render(response.data) if isinstance(response, Response) else response.content
    return Answer(body=body, status=response.status_code, headers=headers)


def always(_: Answer) -> bool:
    """What was answered once is answered for as long as it is kept."""
    return True


def carried_out(call: Call, effect: Callable[[], Answer], *, stands: Callable[[Answer], bool] = always) -> Answer:
    """The answer to this call, whose effect takes place once; see `once`.

    Where an earlier answer does not stand any more the effect takes place anew, and what that answers is kept in its
    place. Of two at once who find that out one waits for the other, and then finds an answer that stands.
    """
    with transaction.atomic():
        row = claim(call, now=timezone.now())
        if row is None:
            earlier = replay(call)
            if stands(earlier):
                return earlier
            row = renew(call, now=timezone.now())
        return keep(row, effect())


def claim(call: Call, *, now: datetime) -> UUID | None:
    """The row that is to hold the answer to this call, or None where an earlier call has been answered.

    Waits for a call with the same key that is under way. Raises InProgress when that takes longer than lock_timeout.
    """
    values: dict[str, Any] = {
        "id": new_id(),
        "scope": call.scope,
        "key": call.key,
        "operation": call.operation,
        "body_sha256": call.body_sha256,
        "now": now,
        "forgotten": now - IdempotentCall.KEPT,
    }
    try:
        claimed = prepared_statements.execute_returning(CLAIM, values)
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise
        raise InProgress(
            f"The first request with this `{call.named}` is still under way. Send it again in a second.",
            headers={"Retry-After": "1"},
        ) from error
    return claimed[0][0] if claimed else None


def replay(call: Call) -> Answer:
    """The answer to the earlier call with this key. Raises Reused where that was another request."""
    row = IdempotentCall.objects.get(scope=call.scope, key=call.key)
    if row.operation != call.operation:
        raise Reused(f"This `{call.named}` came with `{row.operation}` before. Use a new one.", param=call.named)
    if bytes(row.body_sha256) != call.body_sha256:
        raise Reused(f"This `{call.named}` came with another body before. Use a new one.", param=call.named)
    return Answer(body=bytes(row.body or b""), status=row.status or 200, headers={**row.headers, REPLAYED: "true"})


def renew(call: Call, *, now: datetime) -> UUID:
    """The row of a call whose answer is to be replaced; `claim` has locked it. Two statements."""
    rows = IdempotentCall.objects.filter(scope=call.scope, key=call.key)
    rows.update(created_at=now)
    return rows.values_list("pk", flat=True).get()


def keep(row: UUID, answer: Answer) -> Answer:
    """Store the answer, which will be told again byte for byte."""
    values: dict[str, Any] = {
        "id": row,
        "status": answer.status,
        "headers": orjson.dumps(dict(answer.headers)).decode(),
        "body": answer.body,
    }
    prepared_statements.execute_returning(KEEP, values)
    return answer
