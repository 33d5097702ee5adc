"""What goes back: one JSON object in the body, results and errors alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.http import HttpResponse

from framework.api.renderers import to_json_value
from framework.mcp.jsonrpc import Fault, Id
from framework.mcp.protocol_versions import Era

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gives: `body` is a JSON object as bytes, the structured content.

    `meta` stands beside it. `then` is called when the answer was handed on. Where `is_error` is set, the caller's
    model reads `text` instead of a body, or the body is what the protocol of another makes of an error; `is_challenge`
    marks one that only says what has to come with the same call. `asks` is what has to be answered before there is a
    result.
    """

    body: bytes | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    is_error: bool = False
    is_challenge: bool = False
    then: Callable[[], None] | None = None
    asks: Mapping[str, Any] | None = None

    @property
    def members(self) -> dict[str, Any]:
        """The members of the result of tools/call."""
        if self.asks is not None:
            return dict(self.asks)
        text = self.text if self.text is not None else (self.body or b"").decode()
        told: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        if self.body is not None:
            # As it was written: what is sent as text and what is sent as content are the same bytes.
            told["structuredContent"] = orjson.Fragment(self.body)
        if self.is_error:
            told["isError"] = True
        return told


class Answer(HttpResponse):
    """An answer in JSON; `then` is called by the server when it was handed on."""

    def __init__(
        self,
        told: Mapping[str, Any] | None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        then: Callable[[], None] | None = None,
        is_challenge: bool = False,
    ) -> None:
        content = b"" if told is None else orjson.dumps(told, default=to_json_value, option=orjson.OPT_UTC_Z)
        kind = {} if told is None else {"content_type": JSON_TYPE}
        super().__init__(content, status=status, **kind)
        if told is None:
            del self["Content-Type"]
        self["Cache-Control"] = "no-store"
        for name, value in (headers or {}).items():
            self[name] = value
        self.then = then
        self.is_challenge = is_challenge

    def close(self) -> None:
        """Called by the server when the answer was made and handed on."""
        if self.then is not None:
            self.then()
        super().close()


def result(id: Id, members: Mapping[str, Any], *, era: Era, meta: Mapping[str, Any], **rest: Any) -> Answer:  # noqa: A002  # its name in JSON-RPC
    """The answer to a request, with what stands beside its members."""
    told: dict[str, Any] = {**members}
    if era.is_stateless:
        told.setdefault("resultType", "complete")
    if meta:
        told["_meta"] = meta
    return Answer({"jsonrpc": "2.0", "id": id, "result": told}, **rest)


def error(fault: Fault, *, id: Id | None, era: Era | None = None, headers: Mapping[str, str] | None = None) -> Answer:  # noqa: A002  # its name in JSON-RPC
    """The answer to what breaks the protocol. Clients of the handshake read it in a 200, once they have an id."""
    told: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.more is not None:
        told["data"] = fault.more
    in_band = id is not None and era is not None and not era.is_stateless
    status = 200 if in_band else fault.status
    return Answer({"jsonrpc": "2.0", "id": id, "error": told}, status=status, headers=headers)
