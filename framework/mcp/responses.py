"""Responses: one JSON object, with a result or an error."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import orjson
from django.http import HttpResponse

from framework.api.renderers import to_json_value
from framework.mcp.jsonrpc import Id, JSONRPCError
from framework.mcp.protocol_versions import ClientProtocol

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool. `body` is the structured content as JSON; `text` replaces it as content.

    `meta` becomes `_meta`. `on_sent` is called after the response was sent. `is_challenge` marks an error that only
    says which payment must come with the same call. `handle` is an elicitation or a task instead of a result.
    """

    body: bytes | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    is_error: bool = False
    is_challenge: bool = False
    on_sent: Callable[[], None] | None = None
    handle: Mapping[str, Any] | None = None
    # Called with the body as it is sent, the notice included: returns further members of `meta`.
    meta_of_body: Callable[[bytes], Mapping[str, Any]] | None = None

    def with_notice(self, notice: str) -> Self:
        """The result with `notice` as the first member of its structured content, if it has one."""
        if not notice or self.is_error or self.body is None:
            return self
        return replace(self, body=add_notice(self.body, notice))

    def with_meta_of_body(self) -> Self:
        """The result with the members of `meta` that depend on its body, which does not change any more."""
        if self.meta_of_body is None or self.body is None:
            return self
        return replace(self, meta={**self.meta, **self.meta_of_body(self.body)}, meta_of_body=None)

    def to_json(self) -> dict[str, Any]:
        """The result of tools/call."""
        if self.handle is not None:
            return dict(self.handle)
        text = self.text if self.text is not None else (self.body or b"").decode()
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        if self.body is not None:
            # Not parsed and rendered again, so text and structured content are the same bytes.
            result["structuredContent"] = orjson.Fragment(self.body)
        if self.is_error:
            result["isError"] = True
        return result


def add_notice(body: bytes, notice: str) -> bytes:
    """A JSON object that is not empty, with `notice` as its first member unless it has it there already."""
    member = b'{"notice":%b,' % orjson.dumps(notice)
    return body if body.startswith(member) else member + body[1:]


class MCPResponse(HttpResponse):
    """An HTTP response with a JSON body, or without a body for None. `on_sent` is called after it was sent."""

    def __init__(
        self,
        content: Mapping[str, Any] | None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        on_sent: Callable[[], None] | None = None,
        is_challenge: bool = False,
    ) -> None:
        if content is None:
            super().__init__(b"", status=status)
            del self["Content-Type"]
        else:
            body = orjson.dumps(content, default=to_json_value, option=orjson.OPT_UTC_Z)
            super().__init__(body, status=status, content_type=JSON_TYPE)
        self["Cache-Control"] = "no-store"
        for name, value in (headers or {}).items():
            self[name] = value
        self.on_sent = on_sent
        self.is_challenge = is_challenge

    def close(self) -> None:
        """Called by the web server after the response was sent."""
        if self.on_sent is not None:
            self.on_sent()
        super().close()


def result_response(
    id_: Id, result: Mapping[str, Any], *, protocol: ClientProtocol, meta: Mapping[str, Any], **options: Any
) -> MCPResponse:
    """The response to a request; `options` are those of MCPResponse."""
    content: dict[str, Any] = {**result}
    if protocol.is_stateless:
        content.setdefault("resultType", "complete")
    if meta:
        content["_meta"] = meta
    return MCPResponse({"jsonrpc": "2.0", "id": id_, "result": content}, **options)


def error_response(
    error: JSONRPCError,
    *,
    id_: Id | None,
    protocol: ClientProtocol | None = None,
    headers: Mapping[str, str] | None = None,
) -> MCPResponse:
    """The response with a protocol error. Clients with handshake read it in a 200 if it has an id."""
    content: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        content["data"] = error.data
    is_handshake = protocol is not None and not protocol.is_stateless
    status = 200 if id_ is not None and is_handshake else error.status
    return MCPResponse({"jsonrpc": "2.0", "id": id_, "error": content}, status=status, headers=headers)
