"""One message of JSON-RPC 2.0 as MCP restricts it: an object alone, with an id of text or a whole number."""

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

    # Of all else, as where our own code broke, the body alone tells: what HTTP calls broken, few clients read.
    STATUS: ClassVar[Mapping[int, int]] = {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        METHOD_NOT_FOUND: 404,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        UNSUPPORTED_VERSION: 400,
    }

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
        self.status = status or self.STATUS.get(code, 200)
        self.id = id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, which has no id and gets no answer.

    `refusal` is why it is not carried out, although it can be read: a text in it was none, and was changed.
    """

    method: str
    id: Id | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    refusal: InvalidRequest | None = None

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

    def members(self, name: str) -> Mapping[str, Any]:
        """A parameter that must be an object; an empty one where it is left out. Raises Fault."""
        found = self.params.get(name)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise Fault(INVALID_PARAMS, f"`params.{name}` must be an object.")
        return found


def read(request: HttpRequest) -> Message:
    """The message in the body of a POST. Raises Fault."""
    try:
        check_headers(request)
        raw = read_body(request, limit=MOST_BYTES)
    except MalformedBody as refusal:
        status = 413 if isinstance(refusal, BodyTooLarge) else None
        raise Fault(INVALID_REQUEST, refusal.message, status=status) from refusal
    if raw.lstrip()[:1] == b"[":
        raise Fault(INVALID_REQUEST, "A batch is not understood: send each message in a POST of its own.")
    try:
        told = parse(raw)
    except BodyHasInvalidText as refusal:
        return of_unclean(refusal)
    except MalformedBody as refusal:
        code = INVALID_REQUEST if isinstance(refusal, BodyNotObject) else PARSE_ERROR
        raise Fault(code, refusal.message) from refusal
    return of_json(told)


def of_unclean(found: BodyHasInvalidText) -> Message:
    """The message that this object is, refused by the name of what is wrong in it. Raises Fault."""
    if not is_valid_text(str(found.data.get("id"))):
        raise Fault(INVALID_REQUEST, found.message)
    problem = Problem(found.param and found.param.removeprefix("params.arguments."), found.message)
    refusal = InvalidRequest(message_with_param(problem), param=problem.param, details=[problem])
    return replace(of_json(replace_invalid_text(found.data)), refusal=refusal)


def of_json(told: Mapping[str, Any]) -> Message:
    """The message that this object is. Raises Fault, with the id of the message where it has one."""
    id_ = told.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        id_ = None
    if told.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, '`jsonrpc` must be "2.0".', id=id_)
    if "id" in told and id_ is None:
        raise Fault(INVALID_REQUEST, "`id` must be a string or a whole number.")
    method = told.get("method")
    if not isinstance(method, str):
        words = "`method` must be a string: only requests and notifications are sent here."
        raise Fault(INVALID_REQUEST, words, id=id_)
    # The official SDKs take null for nothing.
    params = {} if told.get("params") is None else told["params"]
    if not isinstance(params, dict):
        raise Fault(INVALID_REQUEST, "`params` must be an object.", id=id_)
    return Message(method=method, id=id_, params=params)
