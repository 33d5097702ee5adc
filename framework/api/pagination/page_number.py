"""Page-number pagination: the envelope and the Link header."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_serializer, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request

from framework.api import conditional_requests
from framework.api.renderers import JSONRenderer
from framework.api.urls import public_url
from framework.errors import InvalidRequest

# Seed 000, "Limits".
DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# Keeps every offset within PostgreSQL's bigint.
MAX_PAGE = 10**12


@dataclass(frozen=True, slots=True)
class Page:
    """The requested page and its number of rows."""

    number: int
    limit: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.limit


def parse_whole_number(value: str, *, name: str, min_value: int, max_value: int) -> int:
    """Parse a number of ASCII digits. Raises InvalidRequest; values out of range are not clamped."""
    if not re.fullmatch(r"[0-9]{1,15}", value) or not min_value <= int(value) <= max_value:
        raise InvalidRequest(f"`{name}` must be a whole number from {min_value} to {max_value}.", param=name)
    return int(value)


def parse_page(parameters: Mapping[str, str], *, default_limit: int = DEFAULT_LIMIT) -> Page:
    """The page of the parameters `page` and `limit`."""
    return Page(
        number=parse_whole_number(parameters.get("page", "1"), name="page", min_value=1, max_value=MAX_PAGE),
        limit=parse_whole_number(parameters["limit"], name="limit", min_value=1, max_value=MAX_LIMIT)
        if "limit" in parameters
        else default_limit,
    )


def page_response(
    request: Request,
    rows: Sequence[Mapping[str, Any]],
    *,
    params: Mapping[str, str],
    page: Page,
    total: int,
    cursor: Mapping[str, str | None] | None = None,
) -> HttpResponse:
    """`{"data": [...], "pagination": {...}}` with the Link header of RFC 8288.

    `params` are the parameters of the query string; `cursor` is {"next_cursor": ...} of a list that has cursors.
    """
    pages = -(-total // page.limit)
    pagination = {
        "page": page.number,
        "limit": page.limit,
        "total": total,
        "total_pages": pages,
        "has_more": page.number < pages,
    }
    pages_by_rel = (
        ("first", 1),
        ("prev", page.number - 1 if 1 < page.number <= pages + 1 else 0),
        ("next", page.number + 1 if page.number < pages else 0),
        ("last", max(pages, 1)),
    )
    # An absent limit stays absent: the default may be above MAX_LIMIT. `=` in values is encoded, so "page=" is unique.
    parameters = urlencode({**params, "page": ""})
    before, after = public_url(f"{request.path}?{parameters}").rsplit("page=", 1)
    links = ", ".join(f'<{before}page={number}{after}>; rel="{name}"' for name, number in pages_by_rel if number)
    return _list_response(request, rows, pagination, cursor or {}, links=links)


def cursor_response(
    request: Request,
    rows: Sequence[Mapping[str, Any]],
    *,
    params: Mapping[str, str],
    limit: int,
    has_more: bool,
    next_cursor: str | None,
) -> HttpResponse:
    """The response to `cursor`, which has neither a number nor a total. `params` are those of the query string."""
    others = {name: value for name, value in params.items() if name != "cursor"}
    queries_by_rel = {"first": others}
    if next_cursor:
        queries_by_rel["next"] = {**others, "cursor": next_cursor}
    links = ", ".join(
        f'<{public_url(f"{request.path}?{urlencode(query)}")}>; rel="{name}"' for name, query in queries_by_rel.items()
    )
    pagination = {"limit": limit, "has_more": has_more}
    return _list_response(request, rows, pagination, {"next_cursor": next_cursor}, links=links)


def _list_response(
    request: Request,
    rows: Sequence[Mapping[str, Any]],
    pagination: Mapping[str, Any],
    cursor: Mapping[str, str | None],
    *,
    links: str,
) -> HttpResponse:
    """The list with a weak ETag; 304 if the client has it. The ETag leaves out the cursor, which is another each time.

    A client that gets 304 continues with the cursor that it has.
    """
    render = JSONRenderer().render
    data = render(rows)
    etag = f"W/{conditional_requests.content_etag(data + render(pagination))}"
    content = render({"data": orjson.Fragment(data), "pagination": {**pagination, **cursor}})
    return conditional_requests.conditional_response(request, content, etag=etag, headers={"Link": links})


class Pagination(serializers.Serializer[Any]):
    """The position of a page in its list."""

    page = serializers.IntegerField(min_value=1)
    limit = serializers.IntegerField(min_value=1)
    total = serializers.IntegerField(min_value=0, help_text="How many records match in all.")
    total_pages = serializers.IntegerField(min_value=0)
    has_more = serializers.BooleanField()


class CursorPagination(Pagination):
    """The position of a page in its list. Without `page`, `total` and `total_pages` in the answer to a `cursor`."""

    page = serializers.IntegerField(min_value=1, required=False)
    total = serializers.IntegerField(min_value=0, required=False, help_text="How many records match in all.")
    total_pages = serializers.IntegerField(min_value=0, required=False)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Give it as `cursor` for what comes next; null on the last page."
    )


def page_serializer(
    record: type[serializers.Serializer[Any]], name: str, *, pagination: type[Pagination] = Pagination
) -> serializers.Serializer[Any]:
    """The serializer of a page of these records, with this name in the OpenAPI document."""
    return envelope_serializer(name, {"data": record(many=True), "pagination": pagination()})


def envelope_serializer(name: str, fields: dict[str, Any]) -> serializers.Serializer[Any]:
    """The serializer of the answer of a list, which is one object, with this name in the OpenAPI document."""
    envelope = inline_serializer(name, fields)
    extend_schema_serializer(many=False)(type(envelope))
    return envelope
