"""Autocomplete: restaurants, landmarks, neighborhoods and cuisines whose name has a word that begins with a text."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import log2
from typing import Any
from uuid import UUID

from anyascii import anyascii
from django.db import connection

from catalogue.matching import scoring
from catalogue.search.geocoding.distance import Location, distance_m
from catalogue.search.text import vocabulary
from catalogue.search.text.spell_correction import SpellingIndex
from framework.public_ids import encode

MIN_QUERY_LENGTH = 2
# A frequent prefix is found among the most reviewed restaurants, and a rare one has few rows: neither reads many rows.
MAX_POPULAR_ROWS = 1_000
MAX_ROWS = 40
MIN_POPULAR_MATCHES = 10
# This distance weighs as much as half of the reviews.
DISTANCE_DECAY_M = 2_000.0
# Each kind of suggestion except restaurants is limited to this part of the list, unless it would remain empty.
MAX_SHARE = 4


class Kind(StrEnum):
    """The kind of a suggestion, in the order of equally good ones."""

    CUISINE = "cuisine"
    LANDMARK = "landmark"
    NEIGHBORHOOD = "neighborhood"
    RESTAURANT = "restaurant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A completion of a text.

    `slug` belongs to restaurants and cuisines, `id` to restaurants and landmarks; `address` is the street address of a
    restaurant, which tells those of one name apart; `highlight` are the spans of `text`
    that match, as pairs of character offsets.
    """

    type: Kind
    text: str
    slug: str | None = None
    id: str | None = None
    kind: str | None = None
    market: str | None = None
    neighborhood: str | None = None
    address: str | None = None
    distance_m: int | None = None
    highlight: tuple[tuple[int, int], ...] = ()
    # 0: the whole text matches, 1: its beginning, 2: the beginning of a word, 3: a correction or an alternative name.
    rank: int = 3
    weight: float = 0.0


# The lexemes of the text, parsed as those of the documents: whole words, and a prefix as the last one.
TSQUERY = """
    SELECT string_agg(quote_literal(lexeme) || CASE WHEN is_last THEN ':*A' ELSE ':A' END, ' & ')::tsquery AS query
    FROM (
        SELECT lexeme, positions[1] = max(positions[1]) OVER () AS is_last
        FROM unnest(to_tsvector('pg_catalog.simple', fold(%(q)s))) AS word (lexeme, positions, weights)
    ) AS word
"""


def _restaurant_sql(*, in_market: bool) -> str:
    # The index on the ranks of one market does not serve all markets, so there are two statements.
    scope = "market = %(market)s" if in_market else "true"
    return f"""
WITH typed AS MATERIALIZED ({TSQUERY}), popular AS MATERIALIZED (
    SELECT restaurant_id, card, rank_reviews
    FROM (
        SELECT restaurant_id, card, rank_reviews, document FROM catalogue_searchrow
        WHERE {scope} ORDER BY rank_reviews DESC, restaurant_id LIMIT %(max_popular)s
    ) AS best_known
    WHERE document @@ (SELECT query FROM typed) LIMIT %(rows)s
), rare AS (
    SELECT restaurant_id, card, rank_reviews FROM catalogue_searchrow
    WHERE {scope} AND name LIKE ANY (%(patterns)s::text[]) AND (SELECT count(*) FROM popular) < %(min_popular)s
    OFFSET 0
)
SELECT found.*, r.line1 FROM (
    SELECT * FROM popular
    UNION
    (SELECT * FROM rare ORDER BY rank_reviews DESC, restaurant_id LIMIT %(rows)s)
) AS found JOIN catalogue_restaurant AS r ON r.id = found.restaurant_id
"""  # noqa: S608  # built from constants


# The trigram index serves LIKE, even for two letters of a word.
LANDMARKS = """
SELECT l.id, l.name, l.kind, l.market_id, l.latitude, l.longitude, l.prominence, array_agg(n.name)
FROM catalogue_landmarkname AS n JOIN catalogue_landmark AS l ON l.id = n.landmark_id
WHERE n.folded LIKE ANY (%(patterns)s::text[]) AND (%(market)s::text IS NULL OR l.market_id = %(market)s)
GROUP BY l.id ORDER BY l.market_id IS NULL, l.prominence DESC, l.name, l.id LIMIT %(rows)s
"""


def suggest(
    q: str,
    *,
    ll: tuple[float, float] | None = None,
    market: str | None = None,
    limit: int = 10,
    kinds: Collection[Kind] = tuple(Kind),
) -> list[Suggestion]:
    """Return completions of a text of at least two letters, the best first.

    Whole names come before prefixes of names, and these before prefixes of words; then by popularity, restaurants near
    `ll` before distant ones. With `market`, or `ll` in a market, all suggestions are in that market. If nothing
    matches, one letter may be wrong in a word of 5 to 14 letters. NEIGHBORHOOD are the neighborhoods of restaurants;
    those that `near` accepts are landmarks, as cities are. A query each for landmarks and restaurants, none of which
    reads a whole table, and as many for each of at most five corrections. Raises InvalidRequest for an unknown market.
    """
    known = vocabulary.Vocabulary.load()
    center = Location(*ll) if ll else None
    area = known.market(market) if market else known.containing_market(center) if center else None
    typed = scoring.fold(q)
    if len(typed) < MIN_QUERY_LENGTH:
        return []
    search = PrefixSearch(typed=typed, market=area.slug if area else None, center=center, kinds=frozenset(kinds))
    found = search.run(q)
    if not found:
        found = [
            replace(suggestion, rank=3, highlight=())
            for text in SpellingIndex.load().suggest_corrections(typed)
            for suggestion in replace(search, typed=text).run(text)
        ]
    return _select(found, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixSearch:
    """A search for names with a word that begins with the folded text `typed`."""

    typed: str
    market: str | None
    center: Location | None
    kinds: frozenset[Kind]

    def run(self, q: str) -> list[Suggestion]:
        """Return all matches; `q` is the text before folding, because PostgreSQL folds it differently."""
        # Names that are not Latin are folded to lower case without apostrophes.
        unaccented = " ".join(q.casefold().replace("'", "").split())
        patterns = [
            form.format(text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_"))
            for text in {self.typed, unaccented or self.typed}
            for form in ("{}%", "% {}%")
        ]
        searches: dict[Kind, Callable[[], list[Suggestion]]] = {
            Kind.CUISINE: lambda: self.cuisines(q),
            Kind.NEIGHBORHOOD: self.neighborhoods,
            Kind.LANDMARK: lambda: self.landmarks(patterns),
            Kind.RESTAURANT: lambda: self.restaurants(q, patterns),
        }
        return [suggestion for kind, search in searches.items() if kind in self.kinds for suggestion in search()]

    def cuisines(self, q: str) -> list[Suggestion]:
        """Return cuisines by their labels in all languages, not transliterated: "sushi" is not 素食."""
        known = vocabulary.Vocabulary.load()
        typed = vocabulary.fold(q)
        ranks: dict[str, int] = {}
        for term, slugs in known.cuisines_by_term.items():
            rank = _prefix_rank(term, typed) if typed else None
            if rank is not None:
                ranks |= {slug: min(rank, ranks.get(slug, rank)) for slug in slugs}
        return [
            Suggestion(
                type=Kind.CUISINE,
                text=known.cuisines[slug],
                slug=slug,
                rank=rank,
                highlight=_highlight(known.cuisines[slug], self.typed),
            )
            for slug, rank in ranks.items()
        ]

    def landmarks(self, patterns: list[str]) -> list[Suggestion]:
        """Return landmarks, neighborhoods and cities. One query."""
        with connection.cursor() as cursor:
            cursor.execute(LANDMARKS, {"patterns": patterns, "market": self.market, "rows": MAX_ROWS})
            return [self._landmark(*row) for row in cursor.fetchall()]

    def _landmark(
        self,
        pk: UUID,
        name: str,
        kind: str,
        market: str | None,
        lat: float,
        lng: float,
        prominence: int,
        names: Sequence[str],
    ) -> Suggestion:
        # The name that matches best, the landmark's main name if it matches equally well.
        ranked = [(rank, other != name, other) for other in names if (rank := self._rank(other)) is not None]
        rank, _, text = min(ranked, default=(3, False, name))
        metres = self._distance_m(lat, lng)
        return Suggestion(
            type=Kind.NEIGHBORHOOD if kind == "neighborhood" else Kind.LANDMARK,
            text=text,
            id=encode("lm", pk),
            kind=kind,
            market=market,
            distance_m=metres,
            highlight=_highlight(text, self.typed),
            rank=rank,
            weight=prominence - (0 if market else 100) - (metres or 0) / DISTANCE_DECAY_M,
        )

    def restaurants(self, q: str, patterns: list[str]) -> list[Suggestion]:
        parameters = {
            "q": q,
            "patterns": patterns,
            "market": self.market,
            "max_popular": MAX_POPULAR_ROWS,
            "min_popular": MIN_POPULAR_MATCHES,
            "rows": MAX_ROWS,
        }
        with connection.cursor() as cursor:
            cursor.execute(_restaurant_sql(in_market=self.market is not None), parameters)
            return [
                self._restaurant(pk, json.loads(f"{{{card}}}"), reviews, line1)
                for pk, card, reviews, line1 in cursor.fetchall()
            ]

    def _restaurant(self, pk: UUID, card: dict[str, Any], reviews: int, line1: str | None) -> Suggestion:
        location = card["location"]
        metres = self._distance_m(location["lat"], location["lng"]) if location else None
        rank = self._rank(card["name"])
        return Suggestion(
            type=Kind.RESTAURANT,
            text=card["name"],
            slug=card["slug"],
            id=encode("rst", pk),
            market=card["market"],
            neighborhood=card["neighborhood"],
            address=line1,
            distance_m=metres,
            highlight=_highlight(card["name"], self.typed),
            rank=3 if rank is None else rank,
            weight=log2(1 + reviews) - (metres or 0) / DISTANCE_DECAY_M,
        )

    def neighborhoods(self) -> list[Suggestion]:
        """Return neighborhoods of restaurants. No query if the spelling index is cached."""
        return [
            Suggestion(
                type=Kind.NEIGHBORHOOD,
                text=name,
                kind="neighborhood",
                market=market,
                highlight=_highlight(name, self.typed),
                rank=rank,
                weight=log2(1 + count),
            )
            for (market, name), count in SpellingIndex.load().neighborhoods.items()
            if self.market in (None, market) and (rank := self._rank(name)) is not None
        ]

    def _rank(self, name: str) -> int | None:
        return _prefix_rank(scoring.fold(name), self.typed)

    def _distance_m(self, lat: float, lng: float) -> int | None:
        return round(distance_m(self.center, Location(lat, lng))) if self.center else None


def _prefix_rank(name: str, typed: str) -> int | None:
    if name == typed:
        return 0
    if name.startswith(typed):
        return 1
    return 2 if f" {typed}" in name else None


def _highlight(text: str, typed: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the text that match: the whole of `typed`, or else its words; none for a correction."""
    folded, offsets = "", []
    for offset, letter in enumerate(text):
        letters = (letter if letter.isascii() else anyascii(letter)).casefold()
        letters = "" if letters == "'" else "".join(each if each.isalnum() else " " for each in letters)
        folded += letters
        offsets += [offset] * len(letters)
    spans = []
    for word in [typed] if f" {typed}" in f" {folded}" else typed.split():
        start = f" {folded}".find(f" {word}")
        if start >= 0:
            spans.append((offsets[start], offsets[start + len(word) - 1] + 1))
    return tuple(sorted(spans))


def _select(found: Iterable[Suggestion], *, limit: int) -> list[Suggestion]:
    """Return the best suggestions without duplicates, with a limited share for each kind except restaurants."""
    order = list(Kind)
    best: dict[tuple[Any, ...], Suggestion] = {}
    for each in sorted(found, key=lambda each: (each.rank, order.index(each.type), -each.weight, each.text, each.id)):
        is_area = each.type is Kind.NEIGHBORHOOD
        key = (each.type, each.market, scoring.fold(each.text)) if is_area else (each.type, each.id or each.slug)
        best.setdefault(key, each)
    within_share: list[Suggestion] = []
    beyond_share: list[Suggestion] = []
    counts = dict.fromkeys(Kind, 0)
    share = max(1, limit // MAX_SHARE)
    for each in best.values():
        has_room = each.type is Kind.RESTAURANT or counts[each.type] < share
        counts[each.type] += 1
        (within_share if has_room else beyond_share).append(each)
    room = max(0, limit - len(within_share))
    selected = {id(each) for each in [*within_share[:limit], *beyond_share[:room]]}
    return [each for each in best.values() if id(each) in selected]
