"""The restaurants of ours that a place on somebody else's list may be."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from catalogue.matching.scoring import Known, Likeness, candidates, known, likeness
from catalogue.places.phones import read_phone
from catalogue.search.geocoding.distance import Location
from catalogue.search.text.vocabulary import MarketArea, Vocabulary
from framework.errors import InvalidRequest
from framework.public_ids import encode

# Whoever gives a point may have it from a map of a whole street.
WITHIN_M = 1_000.0
# Trigrams in common with the whole name, where no point says where to look: fewer are too many names to read.
FEWEST_TRIGRAMS = 0.5
MOST_BY_NAME = 50
# Below that nobody would say that two places are one.
LEAST_SCORE = 0.05
# A number that begins with a plus needs no country.
ANY_COUNTRY = "ZZ"

BY_NAME = """
SELECT r.id, r.name, r.alt_names, r.line1, r.postal_code, r.phone, r.latitude, r.longitude, r.website
FROM (
    (
        SELECT restaurant_id FROM catalogue_searchrow
        WHERE name %% fold(%(name)s) AND (%(market)s::text IS NULL OR market = %(market)s)
        ORDER BY similarity(name, fold(%(name)s)) DESC, restaurant_id LIMIT %(most)s
    )
    UNION
    (
        SELECT restaurant_id FROM catalogue_searchrow
        WHERE line1 = fold(%(line1)s) AND (%(market)s::text IS NULL OR market = %(market)s)
        ORDER BY restaurant_id LIMIT %(most)s
    )
) AS likely JOIN catalogue_restaurant AS r ON r.id = likely.restaurant_id
"""

PLACES = """
SELECT r.id, r.slug, r.name, r.status, r.market_id, r.neighborhood, r.line1, r.postal_code, r.locality, r.country
FROM catalogue_restaurant AS r WHERE r.id = ANY (%s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a restaurant is, as much as is known."""

    line1: str | None
    postal_code: str | None
    locality: str | None
    country: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A restaurant of ours that a place may be, and how alike the two are; `distance_m` is None without a point."""

    slug: str
    id: str
    name: str
    status: str
    market: str
    neighborhood: str | None
    address: Address
    distance_m: int | None
    likeness: Likeness

    @property
    def score(self) -> float:
        """How alike they are, 0 to 1."""
        return self.likeness.score

    @property
    def verdict(self) -> str:
        """`same`, `likely` or `different`."""
        return self.likeness.verdict.value


def match(
    name: str,
    *,
    address: str | None = None,
    phone: str | None = None,
    ll: tuple[float, float] | None = None,
    market: str | None = None,
    limit: int = 5,
) -> list[Match]:
    """The restaurants that a place may be, best first, closed ones too; none where nothing is alike.

    `address` is a line, with the town behind a comma or without; `phone` as people write it, for its country is that
    of the market. Looks within a kilometre of `ll`, else for names and addresses like these in the market, and at
    whoever has the phone. At most five queries. Raises InvalidRequest without any of the four, and for an unknown
    market.
    """
    if address is None and phone is None and ll is None and market is None:
        raise InvalidRequest(
            "A name alone is too little to go by: add `address`, `phone`, `ll` or `market`.", param="name"
        )
    names = Vocabulary.load()
    area = names.market(market) if market else names.containing_market(Location(*ll)) if ll else None
    line1, _, rest = (address or "").partition(",")
    asked = Known(
        name=name,
        line1=line1.strip() or None,
        phone=_phone(phone, area),
        lat=ll[0] if ll else None,
        lng=ll[1] if ll else None,
    )
    likely = dict(candidates([asked], market=area.slug if area else None, within_m=WITHIN_M)[0])
    if ll is None:
        likely |= _by_name(asked, market=market or _market_in(rest, names))
    judged = {pk: likeness(asked, known) for pk, known in likely.items()}
    best = sorted(judged.items(), key=lambda each: (-each[1].score, each[0]))[:limit]
    return _told([each for each in best if each[1].score >= LEAST_SCORE])


def _phone(text: str | None, area: MarketArea | None) -> str | None:
    if not text:
        return None
    return read_phone(text, country=area.country if area else ANY_COUNTRY)


def _market_in(words: str, names: Vocabulary) -> str | None:
    """The market whose name stands behind a comma of an address."""
    said = {part.strip().casefold() for part in words.split(",")}
    return next((slug for slug, area in names.markets.items() if {slug, area.name.casefold()} & said), None)


def _by_name(asked: Known, *, market: str | None) -> dict[UUID, Known]:
    parameters = {"name": asked.name, "line1": asked.line1, "market": market, "most": MOST_BY_NAME}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pg_trgm.similarity_threshold', %s, true)", [str(FEWEST_TRIGRAMS)])
        cursor.execute(BY_NAME, parameters)
        rows = cursor.fetchall()
    return {pk: known(columns) for pk, *columns in rows}


def _told(judged: Iterable[tuple[UUID, Likeness]]) -> list[Match]:
    found = dict(judged)
    if not found:
        return []
    with connection.cursor() as cursor:
        cursor.execute(PLACES, [list(found)])
        rows: dict[UUID, Any] = {row[0]: row[1:] for row in cursor.fetchall()}
    return [
        Match(
            id=encode("rst", pk),
            slug=rows[pk][0],
            name=rows[pk][1],
            status=rows[pk][2],
            market=rows[pk][3],
            neighborhood=rows[pk][4],
            address=Address(line1=rows[pk][5], postal_code=rows[pk][6], locality=rows[pk][7], country=rows[pk][8]),
            distance_m=alike.metres,
            likeness=alike,
        )
        for pk, alike in found.items()
        if pk in rows
    ]
