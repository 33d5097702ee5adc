"""Page-number pagination: the envelope and the Link header."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_serializer, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request

from framework.api.renderers import json_response
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
    request: Request, rows: Sequence[Mapping[str, Any]], *, params: Mapping[str, str], page: Page, total: int
) -> HttpResponse:
    """`{"data": [...], "pagination": {...}}` with the Link header of RFC 8288.

    `params` are the parameters of the query string.
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
    return json_response({"data": rows, "pagination": pagination}, headers={"Link": links})


class Pagination(serializers.Serializer[Any]):
    """The position of a page in its list."""

    page = serializers.IntegerField(min_value=1)
    limit = serializers.IntegerField(min_value=1)
    total = serializers.IntegerField(min_value=0, help_text="How many records match in all.")
    total_pages = serializers.IntegerField(min_value=0)
    has_more = serializers.BooleanField()


def page_serializer(record: type[serializers.Serializer[Any]], name: str) -> serializers.Serializer[Any]:
    """The serializer of a page of these records, with this name in the OpenAPI document."""
    return envelope_serializer(name, {"data": record(many=True), "pagination": Pagination()})


def envelope_serializer(name: str, fields: dict[str, Any]) -> serializers.Serializer[Any]:
    """The serializer of the answer of a list, which is one object, with this name in the OpenAPI document."""
    envelope = inline_serializer(name, fields)
    extend_schema_serializer(many=False)(type(envelope))
    return envelope
