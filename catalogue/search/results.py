"""Pages of hits and their JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from catalogue.attribution import Line
from catalogue.search.geocoding import landmarks
from catalogue.search.text.understanding import Part
from framework.api.pagination.cursor import PageInfo

ORJSON_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS


@dataclass(frozen=True, slots=True)
class Count:
    """A number of restaurants, or a lower bound where counting stopped."""

    value: int
    is_exact: bool

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "relation": "eq" if self.is_exact else "gte"}


@dataclass(frozen=True, slots=True)
class Without:
    """How many restaurants match without a parameter, or with another value of it."""

    parameter: str
    value: str | None
    total: Count

    def to_dict(self) -> dict[str, Any]:
        return {"parameter": self.parameter, "value": self.value, "total": self.total.to_dict()}


@dataclass(frozen=True, slots=True)
class Bucket:
    """A facet value with its number of hits; `value` is what the parameter of the facet takes."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """The buckets of each requested facet, and how many restaurants were counted."""

    counted: Count
    counts: Mapping[str, list[Bucket]]

    def to_dict(self) -> dict[str, Any]:
        return {"counted": self.counted.to_dict(), **self.counts}


@dataclass(frozen=True, slots=True)
class Hit:
    """A restaurant of a list, as JSON."""

    json: str

    @property
    def values(self) -> dict[str, Any]:
        return orjson.loads(self.json)  # type: ignore[no-any-return]

    @property
    def slug(self) -> str:
        return str(self.values["slug"])

    @property
    def name(self) -> str:
        return str(self.values["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PageInfo):
    """A page of hits, and how the query was interpreted.

    `without` says which filters emptied a page; `total` and `facets` are None unless requested.
    """

    hits: list[Hit]
    near: str | None
    resolved: landmarks.ResolvedPlace | None
    alternatives: tuple[landmarks.ResolvedPlace, ...]
    open_at: datetime | None
    understood: tuple[Part, ...]
    matched: str
    attribution: list[Line]
    without: list[Without] | None = None
    total: Count | None = None
    facets: Facets | None = None

    def to_json(self) -> bytes:
        return self.render()[0]

    def render(self) -> tuple[bytes, bytes]:
        """Return the body of GET /v1/restaurants, and the content of its ETag: the body without cursor and moments."""
        pagination = {"limit": self.limit, "next_cursor": self.next_cursor, "has_more": self.has_more}
        body = self._members({**pagination, "as_of": self.as_of}, self.open_at)
        etag_content = self._members({"limit": self.limit, "has_more": self.has_more}, None)
        return _render_list(self.hits, body), _render_list(self.hits, etag_content)

    def _members(self, pagination: dict[str, Any], open_at: datetime | None) -> dict[str, Any]:
        if self.total is not None:
            pagination["total"] = self.total.to_dict()
        members: dict[str, Any] = {
            "pagination": pagination,
            "query": {
                "near": self.near,
                "resolved": self.resolved,
                "alternatives": self.alternatives,
                "open_at": open_at,
                "distance_method": "estimated",
                "understood": [part.to_dict() for part in self.understood],
                "matched": self.matched,
                "without": [each.to_dict() for each in self.without or ()],
            },
            "attribution": self.attribution,
        }
        if self.facets is not None:
            members["facets"] = self.facets.to_dict()
        return members


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Restaurants that were looked up by slug, in the order of the slugs.

    `renamed` maps requested slugs to current ones, `closed` are restaurants that have closed for good, `missing` are
    unknown slugs.
    """

    hits: list[Hit]
    missing: list[str]
    closed: list[str]
    renamed: Mapping[str, str]
    attribution: list[Line]

    def to_json(self) -> bytes:
        """Return the body of GET /v1/restaurants?slugs=."""
        return _render_list(
            self.hits,
            {
                "missing": self.missing,
                "closed": self.closed,
                "renamed": self.renamed,
                "attribution": self.attribution,
            },
        )


def _render_list(hits: list[Hit], members: Mapping[str, Any]) -> bytes:
    data = ",".join([hit.json for hit in hits]).encode()
    return b'{"data":[%b],%b' % (data, orjson.dumps(members, option=ORJSON_OPTIONS)[1:])
