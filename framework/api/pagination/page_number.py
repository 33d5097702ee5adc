"""Pages of a list by number: the envelope and the Link header."""

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
# No list is as long; a bound keeps every offset within PostgreSQL's bigint.
MAX_PAGE = 10**12


@dataclass(frozen=True, slots=True)
class Page:
    """Which page of how many rows a caller wants."""

    number: int
    limit: int

    @property
    def offset(self) -> int:
        """Rows before this page."""
        return (self.number - 1) * self.limit


def parse_whole_number(value: str, *, name: str, lowest: int, highest: int) -> int:
    """Read a number of ASCII digits. Raises InvalidRequest naming the parameter; nothing is clamped."""
    if not re.fullmatch(r"[0-9]{1,15}", value) or not lowest <= int(value) <= highest:
        raise InvalidRequest(f"`{name}` must be a whole number from {lowest} to {highest}.", param=name)
    return int(value)


def parse_page(parameters: Mapping[str, str], *, default_limit: int = DEFAULT_LIMIT) -> Page:
    """The page that `page` and `limit` ask for."""
    return Page(
        number=parse_whole_number(parameters.get("page", "1"), name="page", lowest=1, highest=MAX_PAGE),
        limit=parse_whole_number(parameters["limit"], name="limit", lowest=1, highest=MAX_LIMIT)
        if "limit" in parameters
        else default_limit,
    )


def page_response(
    request: Request, rows: Sequence[Mapping[str, Any]], *, asked: Mapping[str, str], page: Page, total: int
) -> HttpResponse:
    """`{"data": [...], "pagination": {...}}` of a page of so many rows in all, with the Link header of RFC 8288.

    `asked` are the parameters of the query string.
    """
    pages = -(-total // page.limit)
    pagination = {
        "page": page.number,
        "limit": page.limit,
        "total": total,
        "total_pages": pages,
        "has_more": page.number < pages,
    }
    wanted = (
        ("first", 1),
        ("prev", page.number - 1 if 1 < page.number <= pages + 1 else 0),
        ("next", page.number + 1 if page.number < pages else 0),
        ("last", max(pages, 1)),
    )
    # A limit that was left out stays left out, for it may be above the most. Of what callers wrote `=` is encoded.
    parameters = urlencode({**asked, "page": ""})
    before, after = public_url(f"{request.path}?{parameters}").rsplit("page=", 1)
    links = ", ".join(f'<{before}page={number}{after}>; rel="{name}"' for name, number in wanted if number)
    return json_response({"data": rows, "pagination": pagination}, headers={"Link": links})


class Pagination(serializers.Serializer[Any]):
    """Where a page stands in its list."""

    page = serializers.IntegerField(min_value=1)
    limit = serializers.IntegerField(min_value=1)
    total = serializers.IntegerField(min_value=0, help_text="How many records match in all.")
    total_pages = serializers.IntegerField(min_value=0)
    has_more = serializers.BooleanField()


def page_serializer(record: type[serializers.Serializer[Any]], name: str) -> serializers.Serializer[Any]:
    """The shape of a page of such records, under this name in the OpenAPI document."""
    page = inline_serializer(name, {"data": record(many=True), "pagination": Pagination()})
    # The envelope of a list is one object.
    extend_schema_serializer(many=False)(type(page))
    return page
