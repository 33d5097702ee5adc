"""Landmarks from a CSV of Wikidata items."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

from django.db import connection

from catalogue.importers.parsing import csv_rows
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import (
    Reject,
    Row,
    RowCounts,
    RowRejected,
    check_single_line,
    check_storable,
)
from catalogue.models import Landmark
from catalogue.reference_data import OWN
from catalogue.search.geocoding.distance import Location, distance_m, mercator_scale
from framework.db.sql_files import read_sql

COLUMNS = ("qid", "name", "kind", "latitude", "longitude")
MATCH_RADIUS_M = 150

KINDS = {
    "attraction": Landmark.Kind.LANDMARK,
    "monument": Landmark.Kind.LANDMARK,
    "skyscraper": Landmark.Kind.LANDMARK,
    "gallery": Landmark.Kind.MUSEUM,
    "garden": Landmark.Kind.PARK,
    "station": Landmark.Kind.TRANSIT,
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
    wikidata: str
    name: str
    kind: Landmark.Kind
    location: Location
    market_id: str | None

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
                if self.seen.setdefault(landmark.wikidata, row.number) != row.number:
                    raise RowRejected(f"Row {self.seen[landmark.wikidata]} has {landmark.wikidata} already.")
            except RowRejected as error:
                counts.rejects.append(Reject(row, str(error)))
                continue
            if self.markets.only and landmark.market_id != self.markets.only.slug:
                counts.skipped += 1
            else:
                found.append(landmark)
        return found, counts

    def upsert(self, found: Sequence[ParsedLandmark]) -> RowCounts:
        """Write parsed landmarks. Call it in batch_transaction."""
        items = {each.wikidata: each for each in found}
        known = Landmark.objects.filter(wikidata__in=list(items)).select_for_update().order_by("pk")
        existing = {landmark.wikidata: landmark for landmark in known}
        own = {wikidata: landmark.pk for wikidata, landmark in existing.items() if landmark.source_id == OWN}
        own |= _find_matches([each for wikidata, each in items.items() if wikidata not in existing])
        fresh = {
            wikidata: Landmark(wikidata=wikidata, source_id=self.source, **each.columns)
            for wikidata, each in items.items()
            if wikidata not in own and wikidata not in existing
        }
        moved = [
            landmark
            for wikidata, landmark in existing.items()
            if landmark.source_id == self.source and _update_landmark(landmark, items[str(wikidata)])
        ]
        Landmark.objects.bulk_create(fresh.values())
        Landmark.objects.bulk_update(moved, ["name", "kind", "market", "latitude", "longitude"], batch_size=200)
        pks = own | {wikidata: each.pk for wikidata, each in (existing | fresh).items()}
        named = _add_names([(pks[wikidata], each.name) for wikidata, each in items.items()])
        changed = named.union(landmark.pk for landmark in moved) - {landmark.pk for landmark in fresh.values()}
        return RowCounts(created=len(fresh), changed=len(changed), unchanged=len(found) - len(fresh) - len(changed))

    def _read(self, row: Row) -> ParsedLandmark:
        csv_rows.check_row(row.content)
        line: Mapping[str, Any] = row.content
        check_storable(line)
        wikidata, name, kind = line["qid"].strip(), line["name"].strip(), line["kind"].strip().casefold()
        if not _QID.fullmatch(wikidata):
            raise RowRejected(f"qid: {wikidata!r} is not a Wikidata id such as Q42.")
        if not 1 <= len(name) <= 200:
            raise RowRejected("name: 1 to 200 characters are expected.")
        check_single_line("name", name)
        if kind not in KINDS:
            raise RowRejected(f"kind: {kind!r} is none of {', '.join(sorted(KINDS))}.")
        location = read_location(_parse_float(line["latitude"]), _parse_float(line["longitude"]))
        market = self.markets.find_nearest(location)
        return ParsedLandmark(row, wikidata, name, KINDS[kind], location, market.slug if market else None)


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


def _find_matches(places: Sequence[ParsedLandmark]) -> dict[str | None, UUID]:
    """Return by QID the own landmark with the same name within 150 m, the best known first. One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            FIND_MATCHES,
            [
                list(range(len(places))),
                [place.name for place in places],
                [place.location.lat for place in places],
                [place.location.lng for place in places],
                [MATCH_RADIUS_M * mercator_scale(place.location, radius_m=MATCH_RADIUS_M).high for place in places],
                OWN,
            ],
        )
        return {
            places[number].wikidata: pk
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
