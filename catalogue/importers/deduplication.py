"""Deduplication: whether new records are restaurants of the catalogue, or duplicates of each other."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import cos, floor, radians
from uuid import UUID

from rapidfuzz import fuzz, process

from catalogue.importers.parsing.parsed_place import ParsedPlace
from catalogue.matching import scoring
from catalogue.matching.scoring import MatchScore, PlaceRecord, Verdict
from catalogue.models import Restaurant, SourceRecord

# Pairs per new restaurant for staff: a name that matches everything nearby is generic.
MAX_QUEUED = 3
# Names with a lower score (of 100) are no pair, and only the best few are compared in full: so most pairs of a street
# cost a microsecond.
MIN_NAME_SCORE = 45
MAX_COMPARED = 6
# The name of a record is a new one below it.
MIN_SAME_NAME = 0.6
# Degrees of latitude in 150 m.
CELL = scoring.NEAR_M / 111_320
# Demo restaurants do not exist.
DEMO_SOURCES = frozenset({"demo"})

# The grid cell of a place; its folded name if it has no location.
Cell = tuple[int, int] | str


@dataclass(frozen=True, slots=True)
class CandidatePair:
    """A new place, by its number, and what it may be: a restaurant, or another new place."""

    number: int
    other: UUID | int
    likeness: MatchScore


@dataclass(frozen=True, slots=True)
class Duplicates:
    """By number the restaurants that new places are, and the pairs for staff to review."""

    same: dict[int, UUID] = field(default_factory=dict)
    pairs: list[CandidatePair] = field(default_factory=list)


def find_duplicates(places: Sequence[ParsedPlace], *, source: str) -> Duplicates:
    """Compare new places with the catalogue and with each other. Two queries.

    A restaurant that has another record of this source is never joined automatically: the source lists them as two.
    """
    if not places:
        return Duplicates()
    known = [_to_known(place) for place in places]
    candidates = _find_candidates(places, known)
    sources = _load_sources({pair.other for pair in candidates if isinstance(pair.other, UUID)})
    candidates = [
        pair for pair in candidates if not isinstance(pair.other, UUID) or sources[pair.other] != DEMO_SOURCES
    ]
    same: dict[int, UUID] = {}
    joined: set[UUID] = set()
    for pair in sorted(candidates, key=lambda each: -each.likeness.score):
        if pair.likeness.verdict != Verdict.SAME or not isinstance(pair.other, UUID) or pair.number in same:
            continue
        if source not in sources[pair.other] and pair.other not in joined:
            same[pair.number] = pair.other
            joined.add(pair.other)
    new = [
        pair
        for pair in (*candidates, *_find_pairs_within(known))
        if pair.number not in same and pair.other not in same and _needs_review(pair, sources, source=source)
    ]
    return Duplicates(same=same, pairs=list(_limit_pairs(new)))


def is_other_place(restaurant: Restaurant, place: ParsedPlace) -> bool:
    """Whether the name and the place of a record have both changed, so that its id may be that of another restaurant.

    A new name at the same place, the same name elsewhere, and the same phone or website are still the same.
    """
    known = PlaceRecord(
        name=restaurant.name,
        alt_names=tuple(restaurant.alt_names),
        phone=restaurant.phone,
        lat=restaurant.latitude,
        lng=restaurant.longitude,
    )
    likeness = scoring.score_pair(known, _to_known(place))
    has_moved = (
        restaurant.market_id != place.market_id if likeness.distance_m is None else likeness.distance_m > scoring.FAR_M
    )
    is_same_contact = likeness.phone_equal or (restaurant.website and restaurant.website == place.website)
    return has_moved and likeness.name < MIN_SAME_NAME and not is_same_contact


def _needs_review(pair: CandidatePair, sources: Mapping[UUID, frozenset[str]], *, source: str) -> bool:
    """Whether staff review a pair.

    Of two records of one source only certain matches: otherwise each branch of a chain would be queued.
    """
    is_of_others = isinstance(pair.other, UUID) and source not in sources[pair.other]
    return is_of_others or pair.likeness.verdict == Verdict.SAME


def _to_known(place: ParsedPlace) -> PlaceRecord:
    return PlaceRecord(
        name=place.name,
        alt_names=tuple(place.alt_names),
        line1=place.line1,
        postal_code=place.postal_code,
        phone=place.phone,
        lat=place.latitude,
        lng=place.longitude,
        website=place.website,
    )


def _find_candidates(places: Sequence[ParsedPlace], known: Sequence[PlaceRecord]) -> list[CandidatePair]:
    # Only places without a location are searched by market, and all of those are in the market of the run.
    market = next((place.market_id for place in places if place.latitude is None), None)
    return [
        CandidatePair(number, pk, likeness)
        for number, found in enumerate(scoring.find_candidates(known, market=market))
        for pk, there in found[:MAX_COMPARED]
        if (likeness := _compare(known[number], there)) is not None
    ]


def _compare(here: PlaceRecord, there: PlaceRecord) -> MatchScore | None:
    likeness = scoring.score_pair(here, there)
    return None if likeness.verdict == Verdict.DIFFERENT else likeness


def _load_sources(restaurants: set[UUID]) -> dict[UUID, frozenset[str]]:
    sources: dict[UUID, set[str]] = {pk: set() for pk in restaurants}
    for pk, source in SourceRecord.objects.filter(restaurant__in=restaurants).values_list("restaurant", "source"):
        sources[pk].add(source)
    return {pk: frozenset(keys) for pk, keys in sources.items()}


def _find_pairs_within(known: Sequence[PlaceRecord]) -> Iterator[CandidatePair]:
    """Find pairs among the new places: within 150 m or with the same phone, and with similar names."""
    names = [scoring.fold(each.name) for each in known]
    cells: dict[Cell | str, list[int]] = defaultdict(list)
    for number, each in enumerate(known):
        keys = [_cell(each), *([each.phone] if each.phone else ())]
        near = {other: names[other] for key in (*_neighbor_cells(each), *keys[1:]) for other in cells[key]}
        likely = process.extract(
            names[number], near, scorer=fuzz.token_set_ratio, score_cutoff=MIN_NAME_SCORE, limit=MAX_COMPARED
        )
        for *_, other in likely:
            if (likeness := _compare(each, known[other])) is not None:
                yield CandidatePair(number, other, likeness)
        for key in keys:
            cells[key].append(number)


def _cell(known: PlaceRecord) -> Cell:
    if known.lat is None or known.lng is None:
        return scoring.fold(known.name)
    return floor(known.lat / CELL), floor(known.lng * cos(radians(round(known.lat, 1))) / CELL)


def _neighbor_cells(known: PlaceRecord) -> Iterator[Cell]:
    cell = _cell(known)
    if isinstance(cell, str):
        yield cell
    else:
        yield from product(range(cell[0] - 1, cell[0] + 2), range(cell[1] - 1, cell[1] + 2))


def _limit_pairs(pairs: Sequence[CandidatePair]) -> Iterator[CandidatePair]:
    queued: dict[int, int] = defaultdict(int)
    for pair in sorted(pairs, key=lambda each: (each.number, -each.likeness.score)):
        if queued[pair.number] < MAX_QUEUED:
            queued[pair.number] += 1
            yield pair
