"""How answers are written: JSON, whatever was asked for."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


def to_json_value(value: object) -> Any:
    """What orjson does not know by itself."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


class JSONRenderer(BaseRenderer):
    """orjson; bytes are passed on as they are, for rows that the database rendered."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return the body; None is no body."""
        if data is None:
            return b""
        if isinstance(data, bytes):
            return data
        return orjson.dumps(data, default=to_json_value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)


def json_response(told: object, status: int = 200, *, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """An answer in JSON that is written already: DRF's own is written a second time over, by its machinery."""
    return HttpResponse(
        JSONRenderer().render(told), content_type=JSONRenderer.media_type, status=status, headers=headers
    )


class JsonContentNegotiation(BaseContentNegotiation):
    """Ignores Accept: there is one representation, and a 406 is not in the contract."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        """The one parser, which judges the content type itself."""
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        """The first renderer."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
