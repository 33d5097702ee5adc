"""Landmarks from a CSV of Wikidata items: what people name when they say where they are."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from uuid import UUID

from django.db import connection

from catalogue.importers.parsing.market_lookup import Atlas
from catalogue.importers.parsing.parsed_place import read_location
from catalogue.importers.row_errors import (
    RecordCount,
    Reject,
    RejectedError,
    Row,
    UnreadableFileError,
    check_line,
    check_storable,
)
from catalogue.models import Landmark
from catalogue.reference_data import OWN
from catalogue.search.geocoding.distance import Location, distance_m, mercator_scale

COLUMNS = ("qid", "name", "kind", "latitude", "longitude")
SAME_WITHIN_M = 150

KINDS = {
    "attraction": Landmark.Kind.LANDMARK,
    "monument": Landmark.Kind.LANDMARK,
    "skyscraper": Landmark.Kind.LANDMARK,
    "gallery": Landmark.Kind.MUSEUM,
    "garden": Landmark.Kind.PARK,
    "station": Landmark.Kind.TRANSIT,
} | {kind.value: kind for kind in Landmark.Kind}

_QID = re.compile(r"Q[1-9][0-9]{0,15}", re.ASCII)

# Own landmarks of the same name near by, found on the plane; the great circle decides in Python. OFFSET 0 is a fence:
# where statistics know of no landmarks yet PostgreSQL would begin with those, and fold the name of each line for each.
NAMESAKES = """
SELECT wanted.number, near.id, near.latitude, near.longitude
FROM unnest(%s::integer[], %s::text[], %s::float8[], %s::float8[], %s::float8[])
    AS wanted (number, name, lat, lng, reach)
CROSS JOIN LATERAL (
    SELECT id, source_id, latitude, longitude, prominence FROM catalogue_landmark
    WHERE position <@ circle(mercator(wanted.lat, wanted.lng), wanted.reach) OFFSET 0
) AS near
WHERE near.source_id = %s AND EXISTS (
    SELECT FROM catalogue_landmarkname AS known
    WHERE known.landmark_id = near.id AND known.folded = fold(wanted.name) OFFSET 0
)
ORDER BY near.prominence, near.id
"""

ADD_NAMES = """
INSERT INTO catalogue_landmarkname (landmark_id, name)
SELECT * FROM unnest(%s::uuid[], %s::text[])
ON CONFLICT DO NOTHING
RETURNING landmark_id
"""


@dataclass(frozen=True, slots=True)
class ReadLandmark:
    """A landmark with the row that states it."""

    row: Row
    wikidata: str
    name: str
    kind: Landmark.Kind
    location: Location
    market_id: str | None


@dataclass(slots=True)
class LandmarkImport:
    """One run over rows of landmarks. What the own table has already gets names, never a second landmark."""

    atlas: Atlas
    source: str = "wikidata"
    seen: dict[str, int] = field(default_factory=dict)

    def rows(self, stream: BinaryIO) -> Iterator[Any]:
        """The lines of the CSV by column. Raises UnreadableFileError."""
        # A broken byte becomes half a surrogate pair, and its row is refused; the others are read.
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
        reader = csv.DictReader(text)
        try:
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise UnreadableFileError(f"This is no CSV of landmarks: it has no column {', '.join(missing)}.")
            yield from _lines(reader)
        except csv.Error as error:
            raise UnreadableFileError(f"The header is no CSV: {error}.") from error
        finally:
            text.detach()

    def read(self, rows: Sequence[Row]) -> tuple[list[ReadLandmark], RecordCount]:
        """Tell what has to be written, and count what has not. No query."""
        tally = RecordCount()
        found: list[ReadLandmark] = []
        for row in rows:
            try:
                landmark = self._read(row)
                if self.seen.setdefault(landmark.wikidata, row.number) != row.number:
                    raise RejectedError(f"Row {self.seen[landmark.wikidata]} is {landmark.wikidata} already.")
            except RejectedError as error:
                tally.rejects.append(Reject(row, str(error)))
                continue
            if self.atlas.only and landmark.market_id != self.atlas.only.slug:
                tally.skipped += 1
            else:
                found.append(landmark)
        return found, tally

    def write(self, found: Sequence[ReadLandmark]) -> RecordCount:
        """Store what was read. Call it in a transaction that holds the import's lock."""
        items = {each.wikidata: each for each in found}
        held = {
            landmark.wikidata: landmark
            for landmark in Landmark.objects.filter(wikidata__in=list(items)).select_for_update().order_by("pk")
        }
        own = {wikidata: landmark.pk for wikidata, landmark in held.items() if landmark.source_id == OWN}
        own |= _namesakes([each for wikidata, each in items.items() if wikidata not in held])
        fresh = {
            wikidata: self._landmark(each)
            for wikidata, each in items.items()
            if wikidata not in own and wikidata not in held
        }
        moved = [
            landmark
            for wikidata, landmark in held.items()
            if landmark.source_id == self.source and _is_changed(landmark, items[str(wikidata)])
        ]
        Landmark.objects.bulk_create(fresh.values())
        Landmark.objects.bulk_update(moved, ["name", "kind", "market", "latitude", "longitude"], batch_size=200)
        pks = own | {wikidata: each.pk for wikidata, each in (held | fresh).items()}
        named = _add_names([(pks[wikidata], each.name) for wikidata, each in items.items()])
        changed = named.union(landmark.pk for landmark in moved) - {landmark.pk for landmark in fresh.values()}
        return RecordCount(created=len(fresh), changed=len(changed), unchanged=len(found) - len(fresh) - len(changed))

    def _read(self, row: Row) -> ReadLandmark:
        if isinstance(row.content, csv.Error):
            raise RejectedError(f"The line is no CSV: {row.content}.")
        line: Mapping[str, Any] = row.content
        if None in line or None in line.values():
            raise RejectedError("The line has not as many fields as the header.")
        check_storable(line)
        wikidata, name, kind = line["qid"].strip(), line["name"].strip(), line["kind"].strip().casefold()
        if not _QID.fullmatch(wikidata):
            raise RejectedError(f"qid: {wikidata!r} is not a Wikidata id such as Q42.")
        if not 1 <= len(name) <= 200:
            raise RejectedError("name: 1 to 200 characters are expected.")
        check_line("name", name)
        if kind not in KINDS:
            raise RejectedError(f"kind: {kind!r} is none of {', '.join(sorted(KINDS))}.")
        location = read_location(_float(line["latitude"]), _float(line["longitude"]))
        market = self.atlas.nearest(location)
        return ReadLandmark(row, wikidata, name, KINDS[kind], location, market.slug if market else None)

    def _landmark(self, each: ReadLandmark) -> Landmark:
        return Landmark(
            name=each.name,
            kind=each.kind,
            market_id=each.market_id,
            latitude=each.location.lat,
            longitude=each.location.lng,
            wikidata=each.wikidata,
            source_id=self.source,
        )


def _lines(reader: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any] | csv.Error]:
    """Each line by column, or what is wrong with it: one that is no CSV costs itself, and the next is read."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield error


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_changed(landmark: Landmark, stated: ReadLandmark) -> bool:
    """Bring a landmark to what its source states; whether that differs."""
    before = landmark.name, landmark.kind, landmark.market_id, landmark.latitude, landmark.longitude
    landmark.name, landmark.kind, landmark.market_id = stated.name, stated.kind, stated.market_id
    landmark.latitude, landmark.longitude = stated.location.lat, stated.location.lng
    return before != (stated.name, stated.kind, stated.market_id, stated.location.lat, stated.location.lng)


def _namesakes(places: Sequence[ReadLandmark]) -> dict[str | None, UUID]:
    """By QID, the own landmark that has the same name within 150 m; of several the best known. One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            NAMESAKES,
            [
                list(range(len(places))),
                [place.name for place in places],
                [place.location.lat for place in places],
                [place.location.lng for place in places],
                [SAME_WITHIN_M * mercator_scale(place.location, radius_m=SAME_WITHIN_M).high for place in places],
                OWN,
            ],
        )
        return {
            places[number].wikidata: pk
            for number, pk, lat, lng in cursor.fetchall()
            if distance_m(places[number].location, Location(lat, lng)) <= SAME_WITHIN_M
        }


def _add_names(names: Iterable[tuple[UUID, str]]) -> set[UUID]:
    """The landmarks that did not have their name yet."""
    # Sorted: whoever adds names at the same time waits instead of deadlocking.
    ordered = sorted(names)
    with connection.cursor() as cursor:
        cursor.execute(ADD_NAMES, [[pk for pk, _ in ordered], [name for _, name in ordered]])
        return {pk for (pk,) in cursor.fetchall()}
