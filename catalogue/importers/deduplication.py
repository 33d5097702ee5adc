"""Whether new records speak of restaurants that the catalogue has, of each other, or of nobody known."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import cos, floor, radians
from uuid import UUID

from rapidfuzz import fuzz, process

from catalogue.importers.parsing.parsed_place import Place
from catalogue.matching import scoring
from catalogue.matching.scoring import MatchScore, PlaceRecord, Verdict
from catalogue.models import SourceRecord

# Pairs for staff of one new restaurant: a place that is like everything around it is like nothing.
MOST_QUEUED = 3
# Names that have less in common (of 100) are no pair, and of the rest only so many are weighed for each place: most
# pairs of a street cost a microsecond.
LEAST_NAME = 45
MOST_COMPARED = 6
# Degrees of latitude in 150 m.
CELL = scoring.NEAR_M / 111_320
# What the demo made up is no place of this world.
INVENTED = frozenset({"demo"})

# Where on the plane a place stands, as cells; or what it is called, where nobody knows.
Cell = tuple[int, int] | str


@dataclass(frozen=True, slots=True)
class Pair:
    """A new place, by its number, and what it may be: a restaurant of ours, or another of the new ones."""

    number: int
    other: UUID | int
    likeness: MatchScore


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of new places: by number the restaurants that they are, and the pairs that staff have to judge."""

    same: dict[int, UUID] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)


def judge(places: Sequence[Place], *, source: str) -> Judged:
    """Compare new places with the catalogue and with each other. Two queries.

    A restaurant that this source names already under another record is never joined unseen: the source itself says
    that they are two.
    """
    if not places:
        return Judged()
    known = [_known(place) for place in places]
    alike = _alike(places, known)
    named = _sources({pair.other for pair in alike if isinstance(pair.other, UUID)})
    alike = [pair for pair in alike if not isinstance(pair.other, UUID) or named[pair.other] != INVENTED]
    same: dict[int, UUID] = {}
    taken: set[UUID] = set()
    for pair in sorted(alike, key=lambda each: -each.likeness.score):
        if pair.likeness.verdict != Verdict.SAME or not isinstance(pair.other, UUID) or pair.number in same:
            continue
        if source not in named[pair.other] and pair.other not in taken:
            same[pair.number] = pair.other
            taken.add(pair.other)
    new = [
        pair
        for pair in (*alike, *_within(known))
        if pair.number not in same and pair.other not in same and _is_asked(pair, named, source=source)
    ]
    return Judged(same=same, pairs=list(_likeliest(new)))


def _is_asked(pair: Pair, named: Mapping[UUID, frozenset[str]], *, source: str) -> bool:
    """Of two records of one source only what is certainly the same: else each branch of a chain would be asked for."""
    is_of_others = isinstance(pair.other, UUID) and source not in named[pair.other]
    return is_of_others or pair.likeness.verdict == Verdict.SAME


def _known(place: Place) -> PlaceRecord:
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


def _alike(places: Sequence[Place], known: Sequence[PlaceRecord]) -> list[Pair]:
    # Only a place without a location is sought by its market, and all of those are of the one that the run names.
    market = next((place.market_id for place in places if place.latitude is None), None)
    return [
        Pair(number, pk, likeness)
        for number, found in enumerate(scoring.find_candidates(known, market=market))
        for pk, there in found[:MOST_COMPARED]
        if (likeness := _likeness(known[number], there)) is not None
    ]


def _likeness(here: PlaceRecord, there: PlaceRecord) -> MatchScore | None:
    likeness = scoring.score_pair(here, there)
    return None if likeness.verdict == Verdict.DIFFERENT else likeness


def _sources(restaurants: set[UUID]) -> dict[UUID, frozenset[str]]:
    named: dict[UUID, set[str]] = {pk: set() for pk in restaurants}
    for pk, source in SourceRecord.objects.filter(restaurant__in=restaurants).values_list("restaurant", "source"):
        named[pk].add(source)
    return {pk: frozenset(sources) for pk, sources in named.items()}


def _within(known: Sequence[PlaceRecord]) -> Iterator[Pair]:
    """Pairs of the places themselves: what lies within 150 m or has the same phone, and is called alike."""
    names = [scoring.fold(each.name) for each in known]
    cells: dict[Cell | str, list[int]] = defaultdict(list)
    for number, each in enumerate(known):
        keys = [_cell(each), *([each.phone] if each.phone else ())]
        near = {other: names[other] for key in (*_around(each), *keys[1:]) for other in cells[key]}
        likely = process.extract(
            names[number], near, scorer=fuzz.token_set_ratio, score_cutoff=LEAST_NAME, limit=MOST_COMPARED
        )
        for *_, other in likely:
            if (likeness := _likeness(each, known[other])) is not None:
                yield Pair(number, other, likeness)
        for key in keys:
            cells[key].append(number)


def _cell(known: PlaceRecord) -> Cell:
    if known.lat is None or known.lng is None:
        return scoring.fold(known.name)
    return floor(known.lat / CELL), floor(known.lng * cos(radians(round(known.lat, 1))) / CELL)


def _around(known: PlaceRecord) -> Iterator[Cell]:
    cell = _cell(known)
    if isinstance(cell, str):
        yield cell
    else:
        yield from product(range(cell[0] - 1, cell[0] + 2), range(cell[1] - 1, cell[1] + 2))


def _likeliest(pairs: Sequence[Pair]) -> Iterator[Pair]:
    queued: dict[int, int] = defaultdict(int)
    for pair in sorted(pairs, key=lambda each: (each.number, -each.likeness.score)):
        if queued[pair.number] < MOST_QUEUED:
            queued[pair.number] += 1
            yield pair
