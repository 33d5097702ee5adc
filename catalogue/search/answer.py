"""A page of hits, and how it is written: cards that the database rendered, with what depends on the question."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.db import connection

from catalogue import geo, landmarks
from catalogue.flow import Offer
from config.api.cursors import Paged

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


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A restaurant in a list: `card` holds the members of its JSON that do not depend on the question.

    `metres` are from the reference point, None without one. `open_now` and `next_change` are None where they are not
    known; `next_change` is on the restaurant's wall clock.
    """

    card: str
    metres: float | None = None
    open_now: bool | None = None
    next_change: datetime | None = None
    offer: Offer | None = None

    @cached_property
    def values(self) -> dict[str, Any]:
        """Everything by name, as it is written."""
        return orjson.loads(self.to_json())  # type: ignore[no-any-return]

    @property
    def slug(self) -> str:
        """The name in the address."""
        return str(self.values["slug"])

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.values["name"])

    def to_json(self) -> bytes:
        """The item of a list."""
        walk = None if self.metres is None else geo.walk(self.metres)
        rest = {
            "walking_distance_m": walk.distance_m if walk else None,
            "walking_minutes": walk.minutes if walk else None,
            "distance_m": None if self.metres is None else round(self.metres),
            "open_now": self.open_now,
            "next_change": self.next_change,
            "flow_offer": _offer(self.offer) if self.offer else None,
        }
        return b"{%b,%b" % (self.card.encode(), orjson.dumps(rest, option=OPTIONS)[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Paged):
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
        pagination: dict[str, Any] = {
            "limit": self.limit,
            "next_cursor": self.next_cursor,
            "has_more": self.has_more,
            "as_of": self.as_of,
        }
        return self._written(pagination, self.open_at)

    def content(self) -> bytes:
        """What is new about another page: all of it but the moment, which each answer has its own of."""
        return self._written({"limit": self.limit, "has_more": self.has_more}, None)

    def _written(self, pagination: dict[str, Any], open_at: datetime | None) -> bytes:
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
        return _listed(self.hits, rest)


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
            self.hits,
            {
                "missing": self.missing,
                "closed": self.closed,
                "renamed": self.renamed,
                "attribution": self.attribution,
            },
        )


def change_of(
    *, now: datetime, zone: str, until: datetime | None, is_open: bool, opens: datetime | None, closes: datetime | None
) -> datetime | None:
    """When it opens or closes next, on its wall clock: `opens` and `closes` are the next moments of its open spans.

    One that ends where the worked out days end tells of no change.
    """
    change = closes if is_open and until and closes and closes < until else None if is_open else opens
    return change.astimezone(ZoneInfo(zone)) if change and change > now else None


def attribute(sources: Iterable[Iterable[str]]) -> list[Attribution]:
    """The lines that these sources ask for, each once. One query, none without a source."""
    keys = sorted({key for each in sources for key in each})
    if not keys:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, attribution, license FROM catalogue_source WHERE key = ANY(%s) ORDER BY key", [keys]
        )
        return [Attribution(*row) for row in cursor.fetchall()]


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "percent": offer.percent,
        "time": f"{offer.time:%H:%M}",
        "id": offer.id,
        "date": offer.date,
        "seats_left": offer.seats_left,
    }


def _listed(hits: Iterable[Hit], rest: Mapping[str, Any]) -> bytes:
    return b'{"data":[%b],%b' % (b",".join(hit.to_json() for hit in hits), orjson.dumps(rest, option=OPTIONS)[1:])
