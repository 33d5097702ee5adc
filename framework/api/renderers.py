"""Responses are JSON, whatever the Accept header asks for."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


def to_json_value(value: object) -> Any:
    """The conversion of types that orjson does not serialize."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


class JSONRenderer(BaseRenderer):
    """Renders with orjson; bytes are sent unchanged, for rows that PostgreSQL rendered."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if data is None:
            return b""
        if isinstance(data, bytes):
            return data
        return orjson.dumps(data, default=to_json_value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)


def json_response(data: object, status: int = 200, *, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """A rendered JSON response, which skips the rendering machinery of DRF's Response."""
    return HttpResponse(
        JSONRenderer().render(data), content_type=JSONRenderer.media_type, status=status, headers=headers
    )


class JsonContentNegotiation(BaseContentNegotiation):
    """Ignores Accept: there is one representation, and the contract has no 406."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
