"""Finding: from a question to a page of hits."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson
from django.db import connection, transaction

from catalogue import cursors, flow, geo, landmarks
from catalogue.cursors import Cursor, Key, Paged
from catalogue.geo import Location
from catalogue.hours.clock import instant
from catalogue.names import Names
from catalogue.search.question import OPEN_AHEAD, OPEN_BEHIND, Query, Sort
from catalogue.search.statement import Statement
from config.api.refusal import InvalidRequest

# One wrong letter in a word of five leaves half of its trigrams; the bound that PostgreSQL comes with is 0.6.
LIKENESS = "SELECT set_config('pg_trgm.word_similarity_threshold', %s::text, true)"
LEAST_LIKENESS = "0.45"
# Fewer are like nearly every name.
FEWEST_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Attribution:
    """A source of what is shown, and the line that its licence asks for."""

    source: str
    text: str
    license: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A restaurant in a list. Distances are from the reference point, None without one.

    `open_now` and `next_change` are None where they are not known; `next_change` is on the restaurant's wall clock.
    """

    slug: str
    name: str
    neighborhood: str | None
    market: str
    rating: Decimal | None
    review_count: int
    price_level: int | None
    cuisine: str | None
    cuisines: list[str]
    phone: str | None
    walking_distance_m: int | None
    walking_minutes: int | None
    distance_m: int | None
    open_now: bool | None
    next_change: datetime | None
    flow_offer: flow.Offer | None
    location: Location | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Paged):
    """Hits, and what the question was taken to mean."""

    hits: list[Hit]
    near: str | None
    resolved: landmarks.Place | None
    alternatives: tuple[landmarks.Place, ...]
    open_at: datetime | None
    attribution: list[Attribution]


def find(query: Query, *, now: datetime) -> Page:
    """Search the catalogue.

    The later pages of a search speak of the same moment as its first. One statement for the hits and one for their
    offers; one more for names where the question has any, one for `near`, and one where words match nothing and
    letters are tried. Raises InvalidRequest, naming the parameter: PlaceNotResolved, BadCursor, an unknown market or
    cuisine, parameters that need one another.
    """
    _check(query)
    # A cursor keeps the moment to the second.
    now = now.replace(microsecond=0)
    names = Names.load() if query.market or query.cuisine or query.q or isinstance(query.open, time) else None
    if names and query.market:
        names.market(query.market)
    if names:
        names.check_cuisines(query.cuisine)
    near = landmarks.resolve(query.near, market=query.market) if query.near else None
    center = near.place.location if near else Location(*query.ll) if query.ll else None
    # A name that has come to mean another place meanwhile makes another question.
    question = cursors.fingerprint("restaurants", replace(query, limit=0, cursor=None), center)
    cursor = cursors.read(query.cursor, question=question, now=now) if query.cursor else Cursor(after=(0,), as_of=now)
    by_letters, *after = cursor.after
    statement = Statement(
        query=query,
        center=center,
        open_at=_open_at(query, center=center, names=names, now=cursor.as_of),
        now=cursor.as_of,
        asked=names.cuisines_in(query.q) if names and query.q else None,
        after=tuple(after),
        by_letters=bool(by_letters),
    )
    rows = _rows(statement)
    if query.q and len(query.q) >= FEWEST_LETTERS and not rows and not after:
        statement = replace(statement, by_letters=True)
        rows = _rows(statement)
    shown = [row for _, row in rows[: query.limit]]
    offers = flow.next_offers({row.id: row.timezone for row in shown}, now=cursor.as_of)
    next_cursor = None
    if len(rows) > query.limit:
        key, last = rows[query.limit - 1]
        next_cursor = cursors.write(
            (int(statement.by_letters), *key, last.id.hex), as_of=cursor.as_of, question=question
        )
    return Page(
        hits=[_hit(row, offers.get(row.id)) for row in shown],
        limit=query.limit,
        next_cursor=next_cursor,
        as_of=cursor.as_of,
        near=query.near,
        resolved=near.place if near else None,
        alternatives=near.alternatives if near else (),
        open_at=statement.open_at,
        attribution=sorted({source for row in shown for source in row.attributions}, key=lambda source: source.source),
    )


def _check(query: Query) -> None:
    """Raise InvalidRequest for parameters that do not go together."""
    if query.near and query.ll:
        raise InvalidRequest("Give `near` or `ll`, not both.", param="ll")
    if not query.near and not query.ll:
        if query.radius is not None:
            raise InvalidRequest("`radius` needs a reference point: add `near` or `ll`.", param="radius")
        if query.sort is Sort.DISTANCE:
            raise InvalidRequest("`sort=distance` needs a reference point: add `near` or `ll`.", param="sort")


def _open_at(query: Query, *, center: Location | None, names: Names | None, now: datetime) -> datetime | None:
    """The moment at which the hits are to be open, None when that was not asked.

    A time of day is the next such time on the wall clock of the market that was named or is nearest.
    """
    if query.open is None:
        return None
    if query.open == "now":
        return now
    if isinstance(query.open, datetime):
        if not now - OPEN_BEHIND <= query.open <= now + OPEN_AHEAD:
            raise InvalidRequest(
                f"`open` must lie within the next {OPEN_AHEAD.days} days; this moment does not.", param="open"
            )
        return query.open
    area = None
    if names:
        area = names.market(query.market) if query.market else names.nearest_market(center) if center else None
    if area is None:
        raise InvalidRequest(
            "A time of day needs a place whose clock it is on: add `near`, `ll` or `market`.", param="open"
        )
    today, minute = now.astimezone(area.zone).toordinal(), query.open.hour * 60 + query.open.minute
    coming = instant(area.zone, today, minute)
    # The minute that is running counts as now.
    return coming if coming > now - timedelta(minutes=1) else instant(area.zone, today + 1, minute)


class _Row(NamedTuple):
    """A row of the statement behind its sort key."""

    id: UUID
    metres: float | None
    slug: str
    name: str
    neighborhood: str | None
    market: str
    rating: Decimal | None
    review_count: int
    price_level: int | None
    cuisine: str | None
    cuisines: list[str]
    phone: str | None
    latitude: float | None
    longitude: float | None
    timezone: str
    open_now: bool | None
    next_change: datetime | None
    sources: str | None

    @property
    def attributions(self) -> list[Attribution]:
        """The sources that the row was made from."""
        return [Attribution(*source) for source in orjson.loads(self.sources or "[]")]


def _rows(statement: Statement) -> list[tuple[tuple[Key, ...], _Row]]:
    """Run it; each row with its sort key. A row more than asked for says that there is another page."""
    with ExitStack() as held:
        if statement.by_letters:
            held.enter_context(transaction.atomic())
        cursor = held.enter_context(connection.cursor())
        if statement.by_letters:
            cursor.execute(LIKENESS, [LEAST_LIKENESS])
        cursor.execute(statement.sql(), statement.parameters())
        found: list[tuple[Any, ...]] = cursor.fetchall()
    keys = len(statement.columns)
    return [(row[:keys], _Row(*row[keys:])) for row in found]


def _hit(row: _Row, offer: flow.Offer | None) -> Hit:
    walk = None if row.metres is None else geo.walk(row.metres)
    return Hit(
        slug=row.slug,
        name=row.name,
        neighborhood=row.neighborhood,
        market=row.market,
        rating=row.rating,
        review_count=row.review_count,
        price_level=row.price_level,
        cuisine=row.cuisine,
        cuisines=row.cuisines,
        phone=row.phone,
        walking_distance_m=walk.distance_m if walk else None,
        walking_minutes=walk.minutes if walk else None,
        distance_m=None if row.metres is None else round(row.metres),
        open_now=row.open_now,
        next_change=row.next_change.astimezone(ZoneInfo(row.timezone)) if row.next_change else None,
        flow_offer=offer,
        location=None if row.latitude is None or row.longitude is None else Location(row.latitude, row.longitude),
    )
