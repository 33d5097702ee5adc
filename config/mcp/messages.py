"""One message of JSON-RPC 2.0 as MCP restricts it: an object alone, with an id of text or a whole number."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.http import HttpRequest

from config.api.parsers import Malformed, parse, read_body

# In bytes; a message of ours has arguments and a payment, and no files.
MOST_BYTES = 256 * 1024
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Of MCP (2026-07-28, "Error codes").
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
# Ours, in the range that is left to implementations.
REFUSED = -32000

Id = str | int


class Fault(Exception):
    """A message that breaks the protocol; `status` is that of HTTP where the era tells faults by it."""

    STATUS: ClassVar[Mapping[int, int]] = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 500, REFUSED: 200}

    def __init__(
        self,
        code: int,
        message: str,
        *,
        more: Any = None,
        status: int | None = None,
        id: Id | None = None,  # noqa: A002  # its name in JSON-RPC
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.more = more
        self.status = status or self.STATUS.get(code, 400)
        self.id = id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    id: Id | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def meta(self) -> Mapping[str, Any]:
        """What stands in `_meta`; nothing where that is no object."""
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}

    def text(self, name: str) -> str:
        """A parameter that must be text. Raises Fault."""
        found = self.params.get(name)
        if not isinstance(found, str):
            raise Fault(INVALID_PARAMS, f"`params.{name}` must be a string.")
        return found


def read(request: HttpRequest) -> Message:
    """The message in the body of a POST. Raises Fault."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isascii() and length.isdigit() and int(length) > MOST_BYTES:
        raise too_large()
    try:
        raw = read_body(request)
    except Malformed as refusal:
        raise Fault(INVALID_REQUEST, refusal.message) from refusal
    if len(raw) > MOST_BYTES:
        raise too_large()
    if raw.lstrip()[:1] == b"[":
        raise Fault(INVALID_REQUEST, "A batch is not understood: send each message in a POST of its own.")
    try:
        return of_json(parse(raw))
    except Malformed as refusal:
        raise Fault(PARSE_ERROR, refusal.message) from refusal


def of_json(told: Mapping[str, Any]) -> Message:
    """The message that this object is. Raises Fault."""
    id_ = told.get("id")
    known = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    if told.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, '`jsonrpc` must be "2.0".', id=known)
    if "id" in told and known is None:
        raise Fault(INVALID_REQUEST, "`id` must be a string or a whole number.")
    if not isinstance(told.get("method"), str):
        raise Fault(
            INVALID_REQUEST, "`method` must be a string: only requests and notifications are sent here.", id=known
        )
    params = told.get("params", {})
    if not isinstance(params, dict):
        raise Fault(INVALID_REQUEST, "`params` must be an object.", id=known)
    return Message(method=told["method"], id=known, params=params)


def too_large() -> Fault:
    """The fault of a body that is not read."""
    return Fault(INVALID_REQUEST, f"The body is larger than {MOST_BYTES} bytes.", status=413)
