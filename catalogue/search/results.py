"""A page of hits, and how it is written: cards that the database rendered, with what depends on the question."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from catalogue.attribution import lines as source_lines
from catalogue.offers import Offer
from catalogue.search.geocoding import landmarks
from framework.api.pagination.cursor import PageInfo

OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS


@dataclass(frozen=True, slots=True)
class Attribution:
    """A source of what is shown, and the line that its licence asks for."""

    source: str
    text: str
    license: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are; from a bound on nobody counts."""

    value: int
    is_exact: bool

    def plain(self) -> dict[str, Any]:
        """As it is written."""
        return {"value": self.value, "relation": "eq" if self.is_exact else "gte"}


@dataclass(frozen=True, slots=True)
class Bucket:
    """What some hits have in common: `value` is what the parameter takes that keeps just these."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts by each facet that was asked for, and how many restaurants were counted."""

    counted: Count
    counts: Mapping[str, list[Bucket]]

    def plain(self) -> dict[str, Any]:
        """As they are written."""
        return {"counted": self.counted.plain(), **self.counts}


@dataclass(frozen=True, slots=True)
class Hit:
    """A restaurant in a list, as it is written."""

    json: str

    @property
    def values(self) -> dict[str, Any]:
        """Everything by name."""
        return orjson.loads(self.json)  # type: ignore[no-any-return]

    @property
    def slug(self) -> str:
        """The name in the address."""
        return str(self.values["slug"])

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.values["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(PageInfo):
    """Hits, and what the question was taken to mean. `total` and `facets` are None unless they were asked for."""

    hits: list[Hit]
    near: str | None
    resolved: landmarks.Place | None
    alternatives: tuple[landmarks.Place, ...]
    open_at: datetime | None
    attribution: list[Attribution]
    total: Count | None = None
    facets: Facets | None = None

    def to_json(self) -> bytes:
        """The answer of GET /v1/restaurants."""
        return self.told()[0]

    def told(self) -> tuple[bytes, bytes]:
        """The answer of GET /v1/restaurants, and what is new about another one.

        The second is all of it but the moment, which each answer has its own of.
        """
        hits = _items(self.hits)
        pagination: dict[str, Any] = {"limit": self.limit, "next_cursor": self.next_cursor}
        pagination |= {"has_more": self.has_more, "as_of": self.as_of}
        answer = self._rest(pagination, self.open_at)
        content = self._rest({"limit": self.limit, "has_more": self.has_more}, None)
        return _listed(hits, answer), _listed(hits, content)

    def _rest(self, pagination: dict[str, Any], open_at: datetime | None) -> dict[str, Any]:
        if self.total is not None:
            pagination["total"] = self.total.plain()
        rest: dict[str, Any] = {
            "pagination": pagination,
            "query": {
                "near": self.near,
                "resolved": self.resolved,
                "alternatives": self.alternatives,
                "open_at": open_at,
                "distance_method": "estimated",
            },
            "attribution": self.attribution,
        }
        if self.facets is not None:
            rest["facets"] = self.facets.plain()
        return rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Restaurants that were asked for by their slugs, in that order.

    `renamed` leads from a slug that was asked for to the one that it has become, `closed` are those that have closed
    for good, `missing` those that nothing is known of.
    """

    hits: list[Hit]
    missing: list[str]
    closed: list[str]
    renamed: Mapping[str, str]
    attribution: list[Attribution]

    def to_json(self) -> bytes:
        """The answer of GET /v1/restaurants?slugs=."""
        return _listed(
            _items(self.hits),
            {
                "missing": self.missing,
                "closed": self.closed,
                "renamed": self.renamed,
                "attribution": self.attribution,
            },
        )


def attribute(sources: Iterable[Iterable[str]]) -> list[Attribution]:
    """The lines that these sources ask for, each once; see catalogue.attribution.lines."""
    lines = source_lines({key for each in sources for key in each})
    return [Attribution(**line) for line in lines]


def plain(offer: Offer) -> dict[str, Any]:
    """An offer as it is written."""
    return {
        "percent": offer.percent,
        "time": f"{offer.time:%H:%M}",
        "id": offer.id,
        "date": offer.date,
        "seats_left": offer.seats_left,
    }


def _items(hits: Iterable[Hit]) -> bytes:
    return ",".join([hit.json for hit in hits]).encode()


def _listed(items: bytes, rest: Mapping[str, Any]) -> bytes:
    return b'{"data":[%b],%b' % (items, orjson.dumps(rest, option=OPTIONS)[1:])
