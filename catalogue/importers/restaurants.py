"""Rows of a source that states restaurants: read, found again by their record, created or changed."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, BinaryIO, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from catalogue import slugs
from catalogue.geo import Location
from catalogue.importers import guests
from catalogue.importers.atlas import Atlas, neighborhoods
from catalogue.importers.place import COLUMNS, Place, Sketch
from catalogue.importers.rows import Reject, RejectedError, Row, Tally
from catalogue.models import Cuisine, Market, Restaurant, SourceRecord


class Reader(Protocol):
    """What a module that reads one kind of file offers."""

    SOURCE: str

    def rows(self, stream: BinaryIO) -> Iterator[Any]: ...

    def sketch(self, content: Any) -> Sketch | None: ...

    def read(self, sketch: Sketch, *, market: Market, on: date) -> Place: ...


@dataclass(frozen=True, slots=True)
class ReadPlace:
    """A place with the row that states it."""

    row: Row
    place: Place


@dataclass(slots=True)
class RestaurantImport:
    """One run over rows of restaurants. `seen` remembers its records, as a source may contradict itself."""

    reader: Reader
    atlas: Atlas
    now: datetime
    seen: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.reader.SOURCE

    def rows(self, stream: BinaryIO) -> Iterator[Any]:
        return self.reader.rows(stream)

    def read(self, rows: Sequence[Row]) -> tuple[list[ReadPlace], Tally]:
        """Tell what has to be written, and count what has not. Two queries; call it outside of a transaction."""
        tally = Tally()
        sketches: list[tuple[Row, Sketch, Market]] = []
        for row in rows:
            try:
                sketch = self.reader.sketch(row.content)
                if sketch is None:
                    tally.skipped += 1
                    continue
                sketches.append((row, sketch, self.atlas.market_of(sketch.location, stated=sketch.market)))
            except RejectedError as error:
                tally.rejects.append(Reject(row, str(error)))
        digests = self._digests([sketch.record for _, sketch, _ in sketches])
        found: list[ReadPlace] = []
        for row, sketch, market in sketches:
            try:
                if self._is_repeated(row, sketch) or digests.get(sketch.record) == sketch.digest:
                    tally.unchanged += 1
                else:
                    on = self.now.astimezone(ZoneInfo(market.timezone)).date()
                    found.append(ReadPlace(row, self.reader.read(sketch, market=market, on=on)))
                self.seen.setdefault(sketch.record, (row.number, sketch.digest))
            except RejectedError as error:
                tally.rejects.append(Reject(row, str(error)))
        return _with_neighborhoods(found), tally

    def write(self, found: Sequence[ReadPlace]) -> Tally:
        """Store what was read. Call it in a transaction that holds the import's lock."""
        places = [each.place for each in found]
        held = {
            record.record: record
            for record in SourceRecord.objects.filter(
                source_id=self.source, record__in=[place.record for place in places]
            )
            .select_related("restaurant")
            .select_for_update(of=("self", "restaurant"))
            .order_by("restaurant_id")
        }
        _add_cuisines(places)
        fresh = [place for place in places if place.record not in held]
        # The digest may be equal by now: another run of the same file was quicker.
        known = [
            (held[place.record], place)
            for place in places
            if place.record in held and held[place.record].digest != place.digest
        ]
        restaurants = self._create(fresh)
        touched = guests.write(
            [*zip(restaurants, fresh, strict=True), *((record.restaurant, place) for record, place in known)],
            source=self.source,
        )
        changed = self._change(known, touched=touched)
        return Tally(created=len(fresh), changed=changed, unchanged=len(places) - len(fresh) - changed)

    def _digests(self, records: list[str]) -> dict[str, str]:
        held = SourceRecord.objects.filter(source_id=self.source, record__in=records)
        return dict(held.values_list("record", "digest"))

    def _is_repeated(self, row: Row, sketch: Sketch) -> bool:
        """Whether an earlier row of this run said the same. Raises RejectedError when it said something else."""
        number, digest = self.seen.get(sketch.record, (row.number, sketch.digest))
        if digest != sketch.digest:
            raise RejectedError(f"Row {number} is the same record ({sketch.record}) and says otherwise.")
        return number != row.number

    def _create(self, places: Sequence[Place]) -> list[Restaurant]:
        """The new restaurants, in the order of their places."""
        addresses = slugs.free([(place.name, place.neighborhood) for place in places])
        restaurants = [
            Restaurant(
                slug=slug,
                created_at=self.now,
                updated_at=self.now,
                **{column: getattr(place, column) for column in COLUMNS},
            )
            for slug, place in zip(addresses, places, strict=True)
        ]
        # In one order everywhere, so that two writers of the same slugs wait for each other and cannot deadlock.
        Restaurant.objects.bulk_create(sorted(restaurants, key=lambda restaurant: restaurant.slug))
        SourceRecord.objects.bulk_create(
            SourceRecord(
                restaurant=restaurant,
                source_id=self.source,
                record=place.record,
                digest=place.digest,
                fields=_stated(place),
                updated_at=self.now,
            )
            for restaurant, place in zip(restaurants, places, strict=True)
        )
        return restaurants

    def _change(self, known: Sequence[tuple[SourceRecord, Place]], *, touched: Set[UUID]) -> int:
        """How many restaurants are not what they were; `touched` are those whose reviews or rules changed."""
        changed = []
        for record, place in known:
            restaurant = record.restaurant
            # What the source stated once and states no more is taken back; what it never stated is not its to empty.
            columns = {_column(name) for name in record.fields}.union(map(_column, _stated(place)))
            columns -= {_column(name) for name in restaurant.locked_fields}
            new = {column for column in columns if getattr(restaurant, column) != getattr(place, column)}
            for column in new:
                setattr(restaurant, column, getattr(place, column))
            if new or restaurant.pk in touched:
                restaurant.updated_at = self.now
                changed.append(restaurant)
            record.digest, record.fields, record.updated_at = place.digest, _stated(place), self.now
        Restaurant.objects.bulk_update(changed, [*map(_field, COLUMNS), "updated_at"], batch_size=200)
        SourceRecord.objects.bulk_update(
            [record for record, _ in known], ["digest", "fields", "updated_at"], batch_size=200
        )
        return len(changed)


def _with_neighborhoods(found: list[ReadPlace]) -> list[ReadPlace]:
    unknown = [each for each in found if each.place.neighborhood is None]
    if not unknown:
        return found
    names = neighborhoods([Location(each.place.latitude, each.place.longitude) for each in unknown])
    known = {each.row.number: name for each, name in zip(unknown, names, strict=True)}
    return [
        replace(each, place=replace(each.place, neighborhood=known.get(each.row.number, each.place.neighborhood)))
        for each in found
    ]


def _add_cuisines(places: Sequence[Place]) -> None:
    labels = {slug: label for place in places for slug, label in place.cuisine_labels.items()}
    Cuisine.objects.bulk_create(
        [Cuisine(slug=slug, label=label) for slug, label in sorted(labels.items())], ignore_conflicts=True
    )


def _stated(place: Place) -> list[str]:
    """The fields that a place states something for."""
    return [_field(column) for column in COLUMNS if getattr(place, column) not in (None, [], {})]


def _field(column: str) -> str:
    return column.removesuffix("_id")


def _column(name: str) -> str:
    return f"{name}_id" if f"{name}_id" in COLUMNS else name
