"""GET /v1/match: the restaurants that match a record of the caller."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from catalogue.matching.scoring import MatchScore, PlaceRecord, build_record, find_candidates, score_pair
from catalogue.places.phones import read_phone
from catalogue.search.geocoding.distance import Location
from catalogue.search.text.vocabulary import Vocabulary
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest
from framework.public_ids import encode

# Positions of callers may be those of a whole street.
RADIUS_M = 1_000.0
# The trigram similarity of candidates by name; a lower one has too many candidates.
MIN_TRIGRAM_SIMILARITY = 0.5
MAX_BY_NAME = 50
MIN_SCORE = 0.05
# For numbers with calling code only.
UNKNOWN_COUNTRY = "ZZ"

BY_NAME = read_sql("catalogue", "find_places_by_name")

RESTAURANTS = """
SELECT r.id, r.slug, r.name, r.status, r.market_id, r.neighborhood, r.line1, r.postal_code, r.locality, r.country
FROM catalogue_restaurant AS r WHERE r.id = ANY (%s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a restaurant."""

    line1: str | None
    postal_code: str | None
    locality: str | None
    country: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A matching restaurant and its score. `distance_m` is None without a position."""

    slug: str
    id: str
    name: str
    status: str
    market: str
    neighborhood: str | None
    address: Address
    distance_m: int | None
    evidence: MatchScore

    @property
    def score(self) -> float:
        return self.evidence.score

    @property
    def verdict(self) -> str:
        """`same`, `likely` or `different`."""
        return self.evidence.verdict.value


def find_matches(
    name: str,
    *,
    address: str | None = None,
    phone: str | None = None,
    ll: tuple[float, float] | None = None,
    market: str | None = None,
    limit: int = 5,
) -> list[Match]:
    """Return the restaurants that match a record, best first, closed ones included.

    `address` is a line, optionally with the town after a comma; `phone` may lack the calling code of the market.
    Candidates are within a kilometre of `ll`, or have a similar name or the address in the market, or have the phone.
    At most five queries. Raises InvalidRequest for a name alone and for an unknown market.
    """
    if address is None and phone is None and ll is None and market is None:
        raise InvalidRequest(
            "A name alone is too little to go by: add `address`, `phone`, `ll` or `market`.", param="name"
        )
    names = Vocabulary.load()
    area = names.market(market) if market else names.containing_market(Location(*ll)) if ll else None
    line1, _, rest = (address or "").partition(",")
    record = PlaceRecord(
        name=name,
        line1=line1.strip() or None,
        phone=read_phone(phone, country=area.country if area else UNKNOWN_COUNTRY) if phone else None,
        lat=ll[0] if ll else None,
        lng=ll[1] if ll else None,
    )
    found = dict(find_candidates([record], market=area.slug if area else None, within_m=RADIUS_M)[0])
    if ll is None:
        found |= _find_by_name(record, market=market or _market_in(rest, names))
    scores = {pk: score_pair(record, candidate) for pk, candidate in found.items()}
    best = sorted(scores.items(), key=lambda item: (-item[1].score, item[0]))[:limit]
    return _build_matches({pk: score for pk, score in best if score.score >= MIN_SCORE})


def _market_in(text: str, names: Vocabulary) -> str | None:
    """The market that the rest of an address names."""
    parts = {part.strip().casefold() for part in text.split(",")}
    return next((slug for slug, area in names.markets.items() if {slug, area.name.casefold()} & parts), None)


def _find_by_name(record: PlaceRecord, *, market: str | None) -> dict[UUID, PlaceRecord]:
    parameters = {"name": record.name, "line1": record.line1, "market": market, "limit": MAX_BY_NAME}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pg_trgm.similarity_threshold', %s, true)", [str(MIN_TRIGRAM_SIMILARITY)])
        cursor.execute(BY_NAME, parameters)
        rows = cursor.fetchall()
    return {pk: build_record(columns) for pk, *columns in rows}


def _build_matches(scores: dict[UUID, MatchScore]) -> list[Match]:
    if not scores:
        return []
    with connection.cursor() as cursor:
        cursor.execute(RESTAURANTS, [list(scores)])
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
            distance_m=score.distance_m,
            evidence=score,
        )
        for pk, score in scores.items()
        if pk in rows
    ]
