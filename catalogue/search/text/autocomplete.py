"""What somebody who is typing may mean: restaurants, landmarks, neighborhoods and cuisines."""

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
from catalogue.search.text.spell_correction import Words
from framework.public_ids import encode

FEWEST_LETTERS = 2
# A common beginning is found among the best known places, and a rare one is a short list: neither reads much.
WALKED = 1_000
READ = 40
FEW = 10
# Two kilometres count as much as half of the reviews.
HALVED_EVERY_M = 2_000.0
# No kind of suggestion but restaurants takes more than this part of the list, unless it would stay empty.
SHARE = 4


class Kind(StrEnum):
    """What a suggestion leads to: the order is that of equally good ones."""

    CUISINE = "cuisine"
    LANDMARK = "landmark"
    NEIGHBORHOOD = "neighborhood"
    RESTAURANT = "restaurant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A thing that what was typed may become.

    `slug` is that of a restaurant or a cuisine, `id` that of a restaurant or a landmark, `highlight` the spans of
    `text` that were typed, as pairs of character offsets.
    """

    type: Kind
    text: str
    slug: str | None = None
    id: str | None = None
    kind: str | None = None
    market: str | None = None
    neighborhood: str | None = None
    distance_m: int | None = None
    highlight: tuple[tuple[int, int], ...] = ()
    # 0: the whole text, 1: its beginning, 2: the beginning of a word of it, 3: with a letter aside, or a further name.
    rank: int = 3
    weight: float = 0.0


# The lexemes of what was typed, as the rows' own parser reads it: whole words, but for the last one.
TYPED = """
    SELECT string_agg(quote_literal(lexeme) || CASE WHEN is_last THEN ':*A' ELSE ':A' END, ' & ')::tsquery AS named
    FROM (
        SELECT lexeme, positions[1] = max(positions[1]) OVER () AS is_last
        FROM unnest(to_tsvector('pg_catalog.simple', fold(%(q)s))) AS word (lexeme, positions, weights)
    ) AS word
"""


def _restaurants(*, in_market: bool) -> str:
    """The statement that reads the rows of restaurants with a name that begins so.

    An index of the best known ones of a market does not serve all markets, so it is one of two.
    """
    here = "market = %(market)s" if in_market else "true"
    return f"""
WITH typed AS MATERIALIZED ({TYPED}), walked AS MATERIALIZED (
    SELECT restaurant_id, card, rank_reviews
    FROM (
        SELECT restaurant_id, card, rank_reviews, document FROM catalogue_searchrow
        WHERE {here} ORDER BY rank_reviews DESC, restaurant_id LIMIT %(walked)s
    ) AS known
    WHERE document @@ (SELECT named FROM typed) LIMIT %(read)s
), rare AS (
    SELECT restaurant_id, card, rank_reviews FROM catalogue_searchrow
    WHERE {here} AND name LIKE ANY (%(patterns)s::text[]) AND (SELECT count(*) FROM walked) < %(few)s
    OFFSET 0
)
SELECT * FROM walked
UNION
(SELECT * FROM rare ORDER BY rank_reviews DESC, restaurant_id LIMIT %(read)s)
"""  # noqa: S608  # of constants


# An index of letters serves LIKE, also for a word of which two letters are given.
LANDMARKS = """
SELECT l.id, l.name, l.kind, l.market_id, l.latitude, l.longitude, l.prominence, array_agg(n.name)
FROM catalogue_landmarkname AS n JOIN catalogue_landmark AS l ON l.id = n.landmark_id
WHERE n.folded LIKE ANY (%(patterns)s::text[]) AND (%(market)s::text IS NULL OR l.market_id = %(market)s)
GROUP BY l.id ORDER BY l.market_id IS NULL, l.prominence DESC, l.name, l.id LIMIT %(read)s
"""


def suggest(
    q: str,
    *,
    ll: tuple[float, float] | None = None,
    market: str | None = None,
    limit: int = 10,
    of: Collection[Kind] = tuple(Kind),
) -> list[Suggestion]:
    """What a text that is being typed may become, likeliest first.

    Whole names before begun ones before begun words; then by what is best known, restaurants near `ll` before those
    far from it. With `ll` in a market of ours, and with `market`, only what lies in that market. Two letters are the
    least; where nothing begins so, one letter may be wrong in a word of five to fourteen. Only these dictionaries are
    asked: that of landmarks has the neighborhoods and cities that `near` understands, and NEIGHBORHOOD is what
    restaurants name. A query each for landmarks and restaurants, and no table is read as a whole; as many more for
    each of at most five spellings. Raises InvalidRequest for an unknown market.
    """
    known = vocabulary.Names.load()
    center = Location(*ll) if ll else None
    area = known.market(market) if market else known.market_around(center) if center else None
    typed = scoring.fold(q)
    if len(typed) < FEWEST_LETTERS:
        return []
    asking = Asking(typed=typed, market=area.slug if area else None, center=center, of=frozenset(of))
    found = asking.all(q)
    if not found:
        spelt = [(text, replace(asking, typed=text)) for text in Words.load().corrected(typed)]
        found = [replace(each, rank=3, highlight=()) for text, other in spelt for each in other.all(text)]
    return _mixed(found, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What was typed, folded, and where, of which dictionaries."""

    typed: str
    market: str | None
    center: Location | None
    of: frozenset[Kind]

    def all(self, q: str) -> list[Suggestion]:
        """All that begins so; `q` is what was typed as the database is to fold it."""
        patterns = [
            _pattern(words, form) for words in {self.typed, _lower(q) or self.typed} for form in ("{}%", "% {}%")
        ]
        asked: dict[Kind, Callable[[], list[Suggestion]]] = {
            Kind.CUISINE: lambda: self.cuisines(q),
            Kind.NEIGHBORHOOD: self.neighborhoods,
            Kind.LANDMARK: lambda: self.landmarks(patterns),
            Kind.RESTAURANT: lambda: self.restaurants(q, patterns),
        }
        return [each for kind, found in asked.items() if kind in self.of for each in found()]

    def cuisines(self, q: str) -> list[Suggestion]:
        """Those whose label begins so, in any language that we have: in its own letters, for sushi is no 素食."""
        known = vocabulary.Names.load()
        typed = vocabulary.fold(q)
        ranks: dict[str, int] = {}
        for words, slugs in known.called.items():
            rank = _rank(words, typed) if typed else None
            if rank is not None:
                ranks |= {slug: min(rank, ranks.get(slug, rank)) for slug in slugs}
        return [self.cuisine(slug, known.cuisines[slug], rank) for slug, rank in ranks.items()]

    def cuisine(self, slug: str, label: str, rank: int) -> Suggestion:
        """A cuisine that somebody may mean."""
        return Suggestion(type=Kind.CUISINE, text=label, slug=slug, rank=rank, highlight=_spans(label, self.typed))

    def landmarks(self, patterns: list[str]) -> list[Suggestion]:
        """Landmarks, neighborhoods and cities with a name like one of these."""
        with connection.cursor() as cursor:
            cursor.execute(LANDMARKS, {"patterns": patterns, "market": self.market, "read": READ})
            rows = cursor.fetchall()
        return [self.landmark(*row) for row in rows]

    def landmark(
        self,
        pk: UUID,
        name: str,
        kind: str,
        market: str | None,
        lat: float,
        lng: float,
        prominence: int,
        called: Sequence[str],
    ) -> Suggestion:
        """A landmark by the name that was typed: its own, else another."""
        ranked = [(rank, each != name, each) for each in called if (rank := self.rank_of(each)) is not None]
        rank, _, text = min(ranked, default=(3, False, name))
        return Suggestion(
            type=Kind.NEIGHBORHOOD if kind == "neighborhood" else Kind.LANDMARK,
            text=text,
            id=encode("lm", pk),
            kind=kind,
            market=market,
            distance_m=self.metres_to(lat, lng),
            highlight=_spans(text, self.typed),
            rank=rank,
            weight=prominence - (0 if market else 100) - self.remoteness(lat, lng),
        )

    def restaurants(self, q: str, patterns: list[str]) -> list[Suggestion]:
        """Restaurants whose names have words that begin so."""
        parameters = {
            "q": q,
            "patterns": patterns,
            "market": self.market,
            "walked": WALKED,
            "few": FEW,
            "read": READ,
        }
        with connection.cursor() as cursor:
            cursor.execute(_restaurants(in_market=self.market is not None), parameters)
            rows = cursor.fetchall()
        return [self.restaurant(pk, json.loads(f"{{{card}}}"), reviews) for pk, card, reviews in rows]

    def restaurant(self, pk: UUID, card: dict[str, Any], reviews: int) -> Suggestion:
        """A restaurant by its name."""
        lat, lng = (card["location"]["lat"], card["location"]["lng"]) if card["location"] else (None, None)
        rank = self.rank_of(card["name"])
        return Suggestion(
            type=Kind.RESTAURANT,
            text=card["name"],
            slug=card["slug"],
            id=encode("rst", pk),
            market=card["market"],
            neighborhood=card["neighborhood"],
            distance_m=self.metres_to(lat, lng),
            highlight=_spans(card["name"], self.typed),
            rank=3 if rank is None else rank,
            weight=log2(1 + reviews) - self.remoteness(lat, lng),
        )

    def neighborhoods(self) -> list[Suggestion]:
        """Neighborhoods of restaurants whose name begins so."""
        return [
            Suggestion(
                type=Kind.NEIGHBORHOOD,
                text=name,
                kind="neighborhood",
                market=market,
                highlight=_spans(name, self.typed),
                rank=rank,
                weight=log2(1 + count),
            )
            for (market, name), count in Words.load().neighborhoods.items()
            if self.market in (None, market) and (rank := self.rank_of(name)) is not None
        ]

    def rank_of(self, name: str) -> int | None:
        """How a name begins with what was typed; None when it does not."""
        return _rank(scoring.fold(name), self.typed)

    def metres_to(self, lat: float | None, lng: float | None) -> int | None:
        """Metres from the point; None without one, or without a location."""
        if self.center is None or lat is None or lng is None:
            return None
        return round(distance_m(self.center, Location(lat, lng)))

    def remoteness(self, lat: float | None, lng: float | None) -> float:
        """What a distance takes off the weight."""
        return (self.metres_to(lat, lng) or 0) / HALVED_EVERY_M


def _rank(name: str, typed: str) -> int | None:
    if name == typed:
        return 0
    if name.startswith(typed):
        return 1
    return 2 if f" {typed}" in name else None


def _lower(q: str) -> str:
    """The text as names that are not Latin are folded: case and needless space alone."""
    return " ".join(q.casefold().replace("'", "").split())


def _pattern(words: str, form: str) -> str:
    """A pattern of LIKE."""
    return form.format(words.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_"))


def _spans(text: str, typed: str) -> tuple[tuple[int, int], ...]:
    """Where the text has what was typed: whole, or else word by word; nowhere where a letter is wrong."""
    folded, places = "", []
    for place, letter in enumerate(text):
        small = (letter if letter.isascii() else anyascii(letter)).casefold()
        small = "" if small == "'" else "".join(each if each.isalnum() else " " for each in small)
        folded += small
        places += [place] * len(small)
    spans = []
    for word in [typed] if f" {typed}" in f" {folded}" else typed.split():
        start = f" {folded}".find(f" {word}")
        if start >= 0:
            spans.append((places[start], places[start + len(word) - 1] + 1))
    return tuple(sorted(spans))


def _mixed(found: Iterable[Suggestion], *, limit: int) -> list[Suggestion]:
    """The best of each kind, then the next ones while there is room; the same place once."""
    order = list(Kind)
    best: dict[tuple[Any, ...], Suggestion] = {}
    for each in sorted(found, key=lambda each: (each.rank, order.index(each.type), -each.weight, each.text, each.id)):
        is_area = each.type is Kind.NEIGHBORHOOD
        key = (each.type, each.market, scoring.fold(each.text)) if is_area else (each.type, each.id or each.slug)
        best.setdefault(key, each)
    chosen: list[Suggestion] = []
    left: list[Suggestion] = []
    taken = dict.fromkeys(Kind, 0)
    share = max(1, limit // SHARE)
    for each in best.values():
        has_room = each.type is Kind.RESTAURANT or taken[each.type] < share
        taken[each.type] += 1
        (chosen if has_room else left).append(each)
    room = max(0, limit - len(chosen))
    kept = {id(each) for each in [*chosen[:limit], *left[:room]]}
    return [each for each in best.values() if id(each) in kept]
