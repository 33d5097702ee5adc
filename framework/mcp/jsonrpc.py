"""JSON-RPC 2.0 as MCP restricts it: one message in a request, with a string or an integer as id."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from django.http import HttpRequest

from framework.api.error_handler import message_with_param
from framework.api.json_parser import (
    BodyHasInvalidText,
    BodyNotObject,
    BodyTooLarge,
    MalformedBody,
    check_headers,
    is_valid_text,
    parse,
    read_body,
    replace_invalid_text,
)
from framework.errors import InvalidRequest, Problem

# A message holds arguments and a payment, no files.
MAX_BYTES = 256 * 1024
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# Of MCP 2026-07-28, "Error codes".
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
# In the range of implementations: a refusal of ours (framework.errors).
REFUSED = -32000

Id = str | int


class JSONRPCError(Exception):
    """A protocol error. `status` is the HTTP status, for protocol versions that use it."""

    # Other codes have status 200, because few clients read the body of a server error.
    STATUS: ClassVar[Mapping[int, int]] = {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        METHOD_NOT_FOUND: 404,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CAPABILITY: 400,
        UNSUPPORTED_VERSION: 400,
    }

    def __init__(
        self,
        code: int,
        message: str,
        *,
        data: Any = None,
        status: int | None = None,
        id: Id | None = None,  # noqa: A002  # the name in JSON-RPC
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status or self.STATUS.get(code, 200)
        self.id = id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, which has no id and gets no response.

    `refusal` says why it must not be executed: it held invalid text, which was replaced.
    """

    method: str
    id: Id | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    refusal: InvalidRequest | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The member `_meta`; empty if it is no object."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    def string_param(self, name: str) -> str:
        """A parameter that must be a string. Raises JSONRPCError."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise JSONRPCError(INVALID_PARAMS, f"`params.{name}` must be a string.")
        return value

    def object_param(self, name: str) -> Mapping[str, Any]:
        """A parameter that must be an object; empty if it is missing. Raises JSONRPCError."""
        value = self.params.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise JSONRPCError(INVALID_PARAMS, f"`params.{name}` must be an object.")
        return value


def read_message(request: HttpRequest) -> Message:
    """Parse the body of a POST. Raises JSONRPCError."""
    try:
        check_headers(request)
        raw = read_body(request, limit=MAX_BYTES)
    except MalformedBody as refusal:
        status = 413 if isinstance(refusal, BodyTooLarge) else None
        raise JSONRPCError(INVALID_REQUEST, refusal.message, status=status) from refusal
    if raw.lstrip()[:1] == b"[":
        raise JSONRPCError(INVALID_REQUEST, "A batch is not understood: send each message in a POST of its own.")
    try:
        return build_message(parse(raw))
    except BodyHasInvalidText as error:
        return build_refused_message(error)
    except MalformedBody as refusal:
        code = INVALID_REQUEST if isinstance(refusal, BodyNotObject) else PARSE_ERROR
        raise JSONRPCError(code, refusal.message) from refusal


def build_refused_message(error: BodyHasInvalidText) -> Message:
    """The message with its invalid text replaced, and the refusal that names it. Raises JSONRPCError."""
    if not is_valid_text(str(error.data.get("id"))):
        raise JSONRPCError(INVALID_REQUEST, error.message)
    problem = Problem(error.param and error.param.removeprefix("params.arguments."), error.message)
    refusal = InvalidRequest(message_with_param(problem), param=problem.param, details=[problem])
    return replace(build_message(replace_invalid_text(error.data)), refusal=refusal)


def build_message(content: Mapping[str, Any]) -> Message:
    """Build the message of a JSON object. Raises JSONRPCError, with the id of the message if there is one."""
    id_ = content.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        id_ = None
    if content.get("jsonrpc") != "2.0":
        raise JSONRPCError(INVALID_REQUEST, '`jsonrpc` must be "2.0".', id=id_)
    if "id" in content and id_ is None:
        raise JSONRPCError(INVALID_REQUEST, "`id` must be a string or a whole number.")
    method = content.get("method")
    if not isinstance(method, str):
        text = "`method` must be a string: only requests and notifications are sent here."
        raise JSONRPCError(INVALID_REQUEST, text, id=id_)
    # The official SDKs send null for empty params.
    params = {} if content.get("params") is None else content["params"]
    if not isinstance(params, dict):
        raise JSONRPCError(INVALID_REQUEST, "`params` must be an object.", id=id_)
    return Message(method=method, id=id_, params=params)
