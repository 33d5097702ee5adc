"""Rows of a source that states restaurants: read, found again by their record, joined, created or changed."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, BinaryIO, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from catalogue.history import publish
from catalogue.importers import deduplication, reviews_and_offers
from catalogue.importers.field_provenance import Claim, as_field, stated
from catalogue.importers.parsing.market_lookup import Atlas, OutsideError, neighborhoods
from catalogue.importers.parsing.parsed_place import COLUMNS, Place, Sketch
from catalogue.importers.row_errors import MovedError, RecordCount, Reject, RejectedError, Row
from catalogue.matching.scoring import Likeness
from catalogue.models import Cuisine, Market, MatchCandidate, Restaurant, SourceRecord
from catalogue.places import slugs
from catalogue.search.geocoding.distance import Location

WRITTEN = (*map(as_field, COLUMNS), "phone_verified_at", "updated_at")


class Reader(Protocol):
    """What reads one kind of file."""

    @property
    def SOURCE(self) -> str: ...  # noqa: N802  # a constant of modules

    # Whether a file holds all there are in a market: then what is absent from it is gone.
    @property
    def IS_COMPLETE(self) -> bool: ...  # noqa: N802

    # Whether most rows lie outside of all markets, and are skipped instead of refused.
    @property
    def IS_WORLDWIDE(self) -> bool: ...  # noqa: N802

    # Whether a record is told of in several rows, which `read` gets together.
    @property
    def IS_GROUPED(self) -> bool: ...  # noqa: N802

    def rows(self, stream: BinaryIO) -> Iterator[Any]: ...

    def sketch(self, content: Any) -> Sketch | None: ...

    def read(self, sketch: Sketch, *, market: Market, on: date) -> Place: ...


@dataclass(frozen=True, slots=True)
class Sketched:
    """A row that is a place to eat in one of the markets."""

    row: Row
    sketch: Sketch
    market: str


@dataclass(frozen=True, slots=True)
class ReadPlace:
    """A place with the row that states it."""

    row: Row
    place: Place


@dataclass(slots=True)
class RestaurantImport:
    """One run over rows of restaurants. Each batch asks `clock` when it is written: that is when it becomes true."""

    reader: Reader
    atlas: Atlas
    clock: Callable[[], datetime]

    @property
    def source(self) -> str:
        return self.reader.SOURCE

    def rows(self, stream: BinaryIO) -> Iterator[Any]:
        return self.reader.rows(stream)

    def sketch(self, rows: Sequence[Row]) -> tuple[list[Sketched], RecordCount]:
        """Tell which rows are places to eat, and count what is not. No query."""
        tally = RecordCount()
        found: list[Sketched] = []
        for row in rows:
            try:
                sketch = self.reader.sketch(row.content)
                if sketch is None:
                    tally.skipped += 1
                    continue
                market = self.atlas.market_of(sketch.location, stated=sketch.market, country=sketch.country)
                found.append(Sketched(row, sketch, market.slug))
            except OutsideError as error:
                if self.reader.IS_WORLDWIDE:
                    tally.skipped += 1
                else:
                    tally.rejects.append(Reject(row, str(error)))
            except RejectedError as error:
                tally.rejects.append(Reject(row, str(error)))
        return found, tally

    def read(self, sketched: Sequence[Sketched]) -> tuple[list[ReadPlace], RecordCount]:
        """Read whole what is new or changed. One query; call it outside of a transaction."""
        tally = RecordCount()
        found: list[ReadPlace] = []
        markets = {market.slug: market for market in self.atlas.markets}
        for each in sketched:
            market = markets[each.market]
            on = self.clock().astimezone(ZoneInfo(market.timezone)).date()
            try:
                found.append(ReadPlace(each.row, self.reader.read(each.sketch, market=market, on=on)))
            except RejectedError as error:
                tally.rejects.append(Reject(each.row, str(error)))
        return _with_neighborhoods(found), tally

    def write(self, found: Sequence[ReadPlace]) -> RecordCount:
        """Store what was read. Call it in a transaction that holds the import's lock.

        A new record of a restaurant that other sources name is joined to it; where that is not certain a restaurant
        is made, and staff are asked. Raises MovedError when staff merged or erased one of them meanwhile: asked again,
        it is written to the restaurant that the record speaks of then.
        """
        publish.set_actor(f"import:{self.source}")
        places = [each.place for each in found]
        _add_cuisines(places)
        held = self._held(places)
        fresh = [place for place in places if place.record not in held]
        judged = deduplication.judge(fresh, source=self.source)
        restaurants, records = _lock({*held.values(), *judged.same.values()})
        if self._held(places) != held or not all(_is_there(restaurants[pk]) for pk in judged.same.values()):
            raise MovedError
        # Whoever held one of them before has written, and with an earlier clock.
        now = self.clock()
        mine = self._mine(records)
        # The digest may be equal by now: another run of the same file was quicker.
        known = [
            place
            for place in places
            if place.record in held
            and mine[place.record].digest != place.digest
            and _is_there(restaurants[held[place.record]])
        ]
        claims = [
            *(self._claim(mine[place.record], place, restaurants, records) for place in known),
            *(
                self._claim(self._record(restaurants[pk], fresh[number]), fresh[number], restaurants, records)
                for number, pk in judged.same.items()
            ),
        ]
        created = self._create(
            {number: place for number, place in enumerate(fresh) if number not in judged.same}, now=now
        )
        changed = self._settle(claims, now=now)
        stated = [
            *((restaurant, fresh[number]) for number, restaurant in created.items()),
            *((each.restaurant, each.place) for each in claims),
        ]
        touched = reviews_and_offers.write(
            [reviews_and_offers.Statement(restaurant.pk, place.record, place) for restaurant, place in stated],
            source=self.source,
            now=now,
        )
        changed |= {pk: restaurants[pk] for pk in touched if pk in restaurants}
        _store(changed, now=now)
        queued = self._queue(judged.pairs, created=created, now=now)
        differing = sum(mine[place.record].restaurant_id in changed for place in known)
        return RecordCount(
            created=len(created),
            merged=len(judged.same),
            changed=differing,
            unchanged=len(places) - len(fresh) - differing,
            queued=queued,
        )

    def differing(self, found: Sequence[ReadPlace]) -> dict[str, int]:
        """How many restaurants of each market would differ when this were written. Three queries, and no change."""
        held = self._held([each.place for each in found])
        restaurants = Restaurant.objects.in_bulk(set(held.values()))
        records = _records(held.values())
        mine = self._mine(records)
        now = self.clock()
        counts: dict[str, int] = defaultdict(int)
        for each in found:
            # Nothing is locked: a record that staff move meanwhile is not counted.
            record = mine.get(each.place.record)
            if record is not None and _is_there(restaurants[record.restaurant_id]):
                claim = self._claim(record, each.place, restaurants, records)
                counts[claim.restaurant.market_id] += claim.settle(now=now)
        return counts

    def _held(self, places: Sequence[Place]) -> dict[str, UUID]:
        records = SourceRecord.objects.filter(source=self.source, record__in=[place.record for place in places])
        return dict(records.values_list("record", "restaurant"))

    def _mine(self, records: Mapping[UUID, Sequence[SourceRecord]]) -> dict[str, SourceRecord]:
        return {
            record.record: record for each in records.values() for record in each if record.source_id == self.source
        }

    def _claim(
        self,
        record: SourceRecord,
        place: Place,
        restaurants: Mapping[UUID, Restaurant],
        records: Mapping[UUID, list[SourceRecord]],
    ) -> Claim:
        others = [each for each in records[record.restaurant_id] if each is not record]
        return Claim(restaurant=restaurants[record.restaurant_id], record=record, place=place, others=others)

    def _record(self, restaurant: Restaurant, place: Place) -> SourceRecord:
        return SourceRecord(restaurant=restaurant, source_id=self.source, record=place.record)

    def _create(self, places: Mapping[int, Place], *, now: datetime) -> dict[int, Restaurant]:
        """The new restaurants, by the numbers of their places."""
        addresses = slugs.allocate_slugs([(place.name, place.neighborhood) for place in places.values()])
        made = {
            number: Restaurant(
                slug=slug,
                created_at=now,
                updated_at=now,
                **{column: getattr(place, column) for column in COLUMNS},
            )
            for slug, (number, place) in zip(addresses, places.items(), strict=True)
        }
        # In one order everywhere, so that two writers of the same slugs wait for each other and cannot deadlock.
        Restaurant.objects.bulk_create(sorted(made.values(), key=lambda restaurant: restaurant.slug))
        SourceRecord.objects.bulk_create(
            SourceRecord(
                restaurant=restaurant,
                source_id=self.source,
                record=places[number].record,
                digest=places[number].digest,
                fields=stated(places[number]),
                updated_at=now,
            )
            for number, restaurant in made.items()
        )
        return made

    def _settle(self, claims: Sequence[Claim], *, now: datetime) -> dict[UUID, Restaurant]:
        """Bring restaurants and records to what holds now, and store the records; the restaurants that differ."""
        differing = {each.restaurant.pk: each.restaurant for each in claims if each.settle(now=now)}
        records = {id(record): record for each in claims for record in (each.record, *each.others)}
        SourceRecord.objects.bulk_update(
            [record for record in records.values() if record.pk], ["digest", "fields", "updated_at"], batch_size=200
        )
        SourceRecord.objects.bulk_create([record for record in records.values() if not record.pk])
        return differing

    def _queue(self, pairs: Sequence[deduplication.Pair], *, created: Mapping[int, Restaurant], now: datetime) -> int:
        """Ask staff whether these are one place; how many pairs there are."""
        asked = []
        for pair in pairs:
            if pair.number in created:
                other = created[pair.other].pk if isinstance(pair.other, int) else pair.other
                first, second = sorted((created[pair.number].pk, other))
                asked.append(
                    MatchCandidate(
                        first_id=first,
                        second_id=second,
                        score=pair.likeness.score,
                        reasons=_reasons(pair.likeness),
                        found_at=now,
                    )
                )
        MatchCandidate.objects.bulk_create(asked, ignore_conflicts=True)
        return len(asked)


def _reasons(alike: MatchScore) -> dict[str, Any]:
    return {"name": alike.name, "address": alike.address, "phone": alike.phone_equal, "metres": alike.distance_m}


def _is_there(restaurant: Restaurant) -> bool:
    """Whether it was neither merged nor erased: of those an import says nothing."""
    return restaurant.merged_into_id is None and restaurant.erased_at is None


def _store(differing: Mapping[UUID, Restaurant], *, now: datetime) -> None:
    ordered = [differing[pk] for pk in sorted(differing)]
    for restaurant in ordered:
        restaurant.updated_at = now
    Restaurant.objects.bulk_update(ordered, WRITTEN, batch_size=200)


def _lock(pks: set[UUID]) -> tuple[dict[UUID, Restaurant], dict[UUID, list[SourceRecord]]]:
    """The restaurants and then their records, locked in the order in which everybody locks them."""
    restaurants = {
        restaurant.pk: restaurant
        for restaurant in Restaurant.objects.filter(pk__in=pks).select_for_update(of=("self",)).order_by("pk")
    }
    return restaurants, _records(pks, lock=True)


def _records(pks: Any, *, lock: bool = False) -> dict[UUID, list[SourceRecord]]:
    found = SourceRecord.objects.filter(restaurant__in=set(pks)).order_by("restaurant_id", "pk")
    records: dict[UUID, list[SourceRecord]] = defaultdict(list)
    for record in found.select_for_update(of=("self",)) if lock else found:
        records[record.restaurant_id].append(record)
    return records


def _with_neighborhoods(found: list[ReadPlace]) -> list[ReadPlace]:
    unknown = [
        (each, Location(each.place.latitude, each.place.longitude))
        for each in found
        if each.place.neighborhood is None and each.place.latitude is not None and each.place.longitude is not None
    ]
    if not unknown:
        return found
    names = neighborhoods([location for _, location in unknown])
    known = {id(each): name for (each, _), name in zip(unknown, names, strict=True)}
    return [
        replace(each, place=replace(each.place, neighborhood=known.get(id(each), each.place.neighborhood)))
        for each in found
    ]


def _add_cuisines(places: Sequence[Place]) -> None:
    labels = {slug: label for place in places for slug, label in place.cuisine_labels.items()}
    Cuisine.objects.bulk_create(
        [Cuisine(slug=slug, label=label) for slug, label in sorted(labels.items())], ignore_conflicts=True
    )
