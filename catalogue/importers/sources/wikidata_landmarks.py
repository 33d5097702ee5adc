"""Landmarks from a CSV, with or without Wikidata ids."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

from django.db import connection
from django.db.models import Q

from catalogue.importers.parsing import csv_rows
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import (
    HotelFound,
    Reject,
    Row,
    RowCounts,
    RowRejected,
    check_single_line,
    clean_content,
    is_single_line,
)
from catalogue.models import Landmark
from catalogue.reference_data import OWN
from catalogue.search.geocoding.distance import Location, distance_m, mercator_scale
from framework.db.sql_files import read_sql

COLUMNS = ("name", "kind", "latitude", "longitude")
MATCH_RADIUS_M = 150
MAX_NAME_LENGTH = 200

KINDS = {
    "attraction": Landmark.Kind.LANDMARK,
    "monument": Landmark.Kind.LANDMARK,
    "skyscraper": Landmark.Kind.LANDMARK,
    "gallery": Landmark.Kind.MUSEUM,
    "garden": Landmark.Kind.PARK,
    "station": Landmark.Kind.TRANSIT,
    "hostel": Landmark.Kind.HOTEL,
    "guest_house": Landmark.Kind.HOTEL,
} | {kind.value: kind for kind in Landmark.Kind}

_QID = re.compile(r"Q[1-9][0-9]{0,15}", re.ASCII)

FIND_MATCHES = read_sql("catalogue", "find_own_landmarks")

ADD_NAMES = """
INSERT INTO catalogue_landmarkname (landmark_id, name)
SELECT * FROM unnest(%s::uuid[], %s::text[])
ON CONFLICT DO NOTHING
RETURNING landmark_id
"""


@dataclass(frozen=True, slots=True)
class ParsedLandmark:
    row: Row
    wikidata: str | None
    name: str
    aliases: tuple[str, ...]
    kind: Landmark.Kind
    location: Location
    market_id: str | None

    @property
    def key(self) -> str:
        """The Wikidata id, else the name and the location to 100 m: what is unique within a file."""
        return self.wikidata or f"{self.name.casefold()} at {self.location.lat:.3f}, {self.location.lng:.3f}"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of Landmark that follow the source."""
        return {
            "name": self.name,
            "kind": self.kind,
            "market_id": self.market_id,
            "latitude": self.location.lat,
            "longitude": self.location.lng,
        }


@dataclass(slots=True)
class LandmarkImport:
    """A run over rows of landmarks. A landmark of the own table gets the name; it is not created twice."""

    markets: MarketIndex
    source: str = "wikidata"
    seen: dict[str, int] = field(default_factory=dict)

    def read_rows(self, stream: BinaryIO) -> Iterator[Any]:
        return csv_rows.read_rows(stream, columns=COLUMNS, kind="landmarks")

    def parse(self, rows: Sequence[Row]) -> tuple[list[ParsedLandmark], RowCounts]:
        """Parse rows and count those that are not imported. No query."""
        counts = RowCounts()
        found: list[ParsedLandmark] = []
        for row in rows:
            try:
                landmark = self._read(row)
                if self.seen.setdefault(landmark.key, row.number) != row.number:
                    raise RowRejected(f"Row {self.seen[landmark.key]} has {landmark.key} already.")
            except RowRejected as error:
                counts.rejects.append(Reject(row, error.reasons))
                continue
            if self.markets.only and landmark.market_id != self.markets.only.slug:
                counts.skip("outside the market")
            else:
                found.append(landmark)
        return found, counts

    def upsert(self, found: Sequence[ParsedLandmark]) -> RowCounts:
        """Write parsed landmarks. Call it in batch_transaction."""
        items = {each.key: each for each in found}
        existing = self._lock_existing(found)
        own = {key: landmark.pk for key, landmark in existing.items() if landmark.source_id == OWN}
        own |= _find_matches([each for key, each in items.items() if key not in existing], source=OWN)
        fresh = {
            key: Landmark(wikidata=each.wikidata, source_id=self.source, **each.columns)
            for key, each in items.items()
            if key not in own and key not in existing
        }
        moved = [
            landmark
            for key, landmark in existing.items()
            if landmark.source_id == self.source and _update_landmark(landmark, items[key])
        ]
        Landmark.objects.bulk_create(fresh.values())
        Landmark.objects.bulk_update(moved, ["name", "kind", "market", "latitude", "longitude"], batch_size=200)
        pks = own | {key: each.pk for key, each in (existing | fresh).items()}
        names = [(pks[key], name) for key, each in items.items() for name in (each.name, *each.aliases)]
        changed = _add_names(names).union(landmark.pk for landmark in moved) - {each.pk for each in fresh.values()}
        return RowCounts(created=len(fresh), changed=len(changed), unchanged=len(found) - len(fresh) - len(changed))

    def _lock_existing(self, found: Sequence[ParsedLandmark]) -> dict[str, Landmark]:
        """Return known landmarks by key: those with the Wikidata id, else this source's of the same name nearby."""
        matches = _find_matches([each for each in found if each.wikidata is None], source=self.source)
        known = Landmark.objects.filter(
            Q(wikidata__in=[each.wikidata for each in found if each.wikidata]) | Q(pk__in=matches.values())
        )
        landmarks = list(known.select_for_update().order_by("pk"))
        by_pk = {each.pk: each for each in landmarks}
        by_item = {each.wikidata: each for each in landmarks if each.wikidata}
        return by_item | {key: by_pk[pk] for key, pk in matches.items() if pk in by_pk}

    def _read(self, row: Row) -> ParsedLandmark:
        csv_rows.check_row(row.content)
        line: Mapping[str, Any] = clean_content(row.content)
        wikidata, name, kind = line.get("qid", "").strip(), line["name"].strip(), line["kind"].strip().casefold()
        if wikidata and not _QID.fullmatch(wikidata):
            raise RowRejected(f"qid: {wikidata!r} is not a Wikidata id such as Q42.")
        if not name:
            raise RowRejected("name: this is required.")
        aliases = tuple(filter(None, (alias.strip() for alias in line.get("aliases", "").split("|"))))
        for field_name, text in (("name", name), *(("aliases", alias) for alias in aliases)):
            check_single_line(field_name, text)
            if len(text) > MAX_NAME_LENGTH:
                raise RowRejected(f"{field_name}: {text[:40]!r} is longer than {MAX_NAME_LENGTH} characters.")
        if kind not in KINDS:
            raise RowRejected(f"kind: {kind!r} is none of {', '.join(sorted(KINDS))}.")
        location = read_location(_parse_float(line["latitude"]), _parse_float(line["longitude"]))
        market = self.markets.find_nearest(location)
        market_id = market.slug if market else None
        return ParsedLandmark(row, wikidata or None, name, aliases, KINDS[kind], location, market_id)


def build_hotel(row: Row, hotel: HotelFound, *, markets: MarketIndex) -> ParsedLandmark | None:
    """Return the landmark of a hotel; None if it lies in none of the markets of the run, or has no usable name."""
    market = markets.find_nearest(hotel.location) if hotel.location else None
    if not hotel.location or not market or (markets.only and market.slug != markets.only.slug):
        return None
    name, *aliases = [text.strip() for text in (hotel.name, *hotel.aliases)]
    if not name or len(name) > MAX_NAME_LENGTH or not is_single_line(name):
        return None
    return ParsedLandmark(row, None, name, tuple(aliases), Landmark.Kind.HOTEL, hotel.location, market.slug)


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _update_landmark(landmark: Landmark, parsed: ParsedLandmark) -> bool:
    """Update a landmark in memory; return whether it has changed."""
    changed = {name: value for name, value in parsed.columns.items() if getattr(landmark, name) != value}
    for name, value in changed.items():
        setattr(landmark, name, value)
    return bool(changed)


def _find_matches(places: Sequence[ParsedLandmark], *, source: str) -> dict[str, UUID]:
    """Return by key the landmark of a source with the same name within 150 m, the best known first. One query."""
    if not places:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            FIND_MATCHES,
            [
                list(range(len(places))),
                [place.name for place in places],
                [place.location.lat for place in places],
                [place.location.lng for place in places],
                [MATCH_RADIUS_M * mercator_scale(place.location, radius_m=MATCH_RADIUS_M).high for place in places],
                source,
            ],
        )
        return {
            places[number].key: pk
            for number, pk, lat, lng in cursor.fetchall()
            if distance_m(places[number].location, Location(lat, lng)) <= MATCH_RADIUS_M
        }


def _add_names(names: Iterable[tuple[UUID, str]]) -> set[UUID]:
    """Return the landmarks that did not have their name yet."""
    # Sorted, so that concurrent imports cannot deadlock.
    ordered = sorted(names)
    with connection.cursor() as cursor:
        cursor.execute(ADD_NAMES, [[pk for pk, _ in ordered], [name for _, name in ordered]])
        return {pk for (pk,) in cursor.fetchall()}
