"""The upsert of restaurants: match new records with the catalogue, update known ones, create the rest."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, BinaryIO
from uuid import UUID
from zoneinfo import ZoneInfo

from catalogue.history import publish
from catalogue.importers import deduplication
from catalogue.importers.cuisine_synonyms import KnownCuisines, load_known_cuisines
from catalogue.importers.field_provenance import RecordUpdate, field_name, list_fields
from catalogue.importers.parsing.market_lookup import MarketIndex, OutsideMarkets
from catalogue.importers.parsing.parsed_place import COLUMNS, ExtractedRecord, ParsedPlace
from catalogue.importers.photo_lists import write_photo_lists
from catalogue.importers.reviews_and_offers import RecordContent, write_reviews_and_rules
from catalogue.importers.row_errors import (
    KEPT_HOTEL,
    HotelFound,
    Reject,
    Row,
    RowCounts,
    RowRejected,
    RowSkipped,
    WriteConflict,
)
from catalogue.importers.sources.wikidata_landmarks import ParsedLandmark, build_hotel
from catalogue.models import Cuisine, MatchCandidate, Report, Restaurant, Source, SourceRecord
from catalogue.places import slugs
from catalogue.places.neighborhoods import find_neighborhoods
from catalogue.search.geocoding.distance import Location

RATING_COLUMNS = ("rating", "review_count")
UPDATE_COLUMNS = (
    *(field_name(column) for column in COLUMNS if column not in RATING_COLUMNS),
    "phone_verified_at",
    "updated_at",
)


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads the files of a source.

    `extract` raises RowSkipped for a row that is no eatery, `parse` takes `market` and the date `on` from which dated
    hours are read; both raise RowRejected. `unread_keys` lists the keys of a row that `parse` does not read. Of a
    complete source a file lists all restaurants of a market, so that missing ones are closed. Rows of a worldwide one
    that lie outside of all markets are skipped, not rejected. A record of a grouped one has several rows, and `parse`
    gets all of them.
    """

    source: str
    read_rows: Callable[[BinaryIO], Iterator[Any]]
    extract: Callable[[Any], ExtractedRecord]
    parse: Callable[..., ParsedPlace]
    unread_keys: Callable[[Any], Iterable[str]] | None = None
    is_complete: bool = False
    is_worldwide: bool = False
    is_grouped: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedRow:
    """A row of an eatery in one of the markets."""

    row: Row
    extracted: ExtractedRecord
    market: str


@dataclass(frozen=True, slots=True)
class ParsedRow:
    row: Row
    place: ParsedPlace


@dataclass(slots=True)
class RestaurantImport:
    """A run over rows of restaurants. Each batch calls `clock` when it is written."""

    reader: SourceReader
    markets: MarketIndex
    clock: Callable[[], datetime]
    # A record whose name and place both changed is written too.
    accepts_replaced: bool = False
    # Those that `extract` has found; LandmarkImport writes them.
    hotels: list[ParsedLandmark] = field(default_factory=list)

    @property
    def source(self) -> str:
        return self.reader.source

    def extract(self, rows: Sequence[Row]) -> tuple[list[ExtractedRow], RowCounts]:
        """Find the rows that are eateries, and count the others. No query."""
        counts = RowCounts()
        extracted: list[ExtractedRow] = []
        for row in rows:
            try:
                record = self.reader.extract(row.content)
                market = self.markets.find_market(record.location, declared=record.market, country=record.country)
                extracted.append(ExtractedRow(row, record, market.slug))
                if self.reader.unread_keys:
                    counts.unread_keys.update(self.reader.unread_keys(record.content))
            except HotelFound as hotel:
                if landmark := build_hotel(row, hotel, markets=self.markets):
                    self.hotels.append(landmark)
                counts.skip(KEPT_HOTEL if landmark else str(hotel))
            except RowSkipped as skipped:
                counts.skip(str(skipped))
            except OutsideMarkets as error:
                if self.reader.is_worldwide:
                    counts.skip("outside every market" if self.markets.only is None else "outside the market")
                else:
                    counts.rejects.append(Reject(row, error.reasons))
            except RowRejected as error:
                counts.rejects.append(Reject(row, error.reasons))
        return extracted, counts

    def parse(self, extracted: Sequence[ExtractedRow]) -> tuple[list[ParsedRow], RowCounts]:
        """Parse new and changed rows. Two queries; call it outside of a transaction."""
        counts = RowCounts()
        parsed: list[ParsedRow] = []
        cuisines = load_known_cuisines() if extracted else KnownCuisines()
        markets = {market.slug: market for market in self.markets.all}
        for each in extracted:
            market = markets[each.market]
            on = self.clock().astimezone(ZoneInfo(market.timezone)).date()
            try:
                place = cuisines.apply(self.reader.parse(each.extracted, market=market, on=on))
            except RowRejected as error:
                counts.rejects.append(Reject(each.row, error.reasons))
                continue
            parsed.append(ParsedRow(each.row, place))
            if place.left_out:
                counts.incomplete.append(Reject(each.row, place.left_out))
        return _add_neighborhoods(parsed), counts

    def upsert(self, parsed: Sequence[ParsedRow]) -> RowCounts:
        """Write parsed rows. Call it in batch_transaction.

        A new record that matches a restaurant of other sources is joined to it; an uncertain match creates a
        restaurant and queues the pair for review. A record whose name and place both changed is rejected and reported
        to staff: most often another file used its id. Raises WriteConflict if staff merged or erased one of them since
        it was read; a repetition finds the current restaurant.
        """
        publish.set_actor(f"import:{self.source}")
        places = [each.place for each in parsed]
        _add_cuisines(places)
        known = self._find_known(places)
        fresh = [place for place in places if place.record not in known]
        duplicates = deduplication.find_duplicates(fresh, source=self.source)
        restaurants, records = _lock_restaurants({*known.values(), *duplicates.same.values()})
        if self._find_known(places) != known or not all(
            _is_current(restaurants[pk]) for pk in duplicates.same.values()
        ):
            raise WriteConflict
        # After the locks are acquired: earlier writers have used an earlier clock.
        now = self.clock()
        own_records = self._own_records(records)
        # Another run of the same file may have written it first.
        changed_places = [
            place
            for place in places
            if place.record in known
            and own_records[place.record].digest != place.digest
            and _is_current(restaurants[known[place.record]])
        ]
        replaced = (
            []
            if self.accepts_replaced
            else [
                place
                for place in changed_places
                if deduplication.is_other_place(restaurants[known[place.record]], place)
            ]
        )
        held = {place.record for place in replaced}
        changed_places = [place for place in changed_places if place.record not in held]
        ranks = _load_ranks()
        updates = [
            *(self._update(own_records[place.record], place, restaurants, records, ranks) for place in changed_places),
            *(
                self._update(
                    self._new_record(restaurants[pk], fresh[number]), fresh[number], restaurants, records, ranks
                )
                for number, pk in duplicates.same.items()
            ),
        ]
        created = self._create(
            {number: place for number, place in enumerate(fresh) if number not in duplicates.same}, now=now
        )
        changed = {each.restaurant.pk: each.restaurant for each in updates if each.apply(now=now)}
        _save_records(updates)
        # Before the reviews are counted, which override a stated rating.
        rated = [each.restaurant for each in updates if each.changes_rating]
        Restaurant.objects.bulk_update(rated, RATING_COLUMNS, batch_size=200)
        contents = [
            *(RecordContent(created[number].pk, fresh[number]) for number in created),
            *(RecordContent(each.restaurant.pk, each.place) for each in updates),
        ]
        touched = write_reviews_and_rules(contents, source=self.source, now=now)
        write_photo_lists(contents, source=self.source, now=now)
        changed |= {pk: restaurants[pk] for pk in touched if pk in restaurants}
        _update_restaurants(changed, now=now)
        queued = self._queue_pairs(duplicates.pairs, created=created, now=now)
        reasons = self._report_replaced([(restaurants[known[place.record]], place) for place in replaced], now=now)
        rows = {place.record: row for row, place in ((each.row, each.place) for each in parsed)}
        changed_count = sum(own_records[place.record].restaurant_id in changed for place in changed_places)
        return RowCounts(
            created=len(created),
            merged=len(duplicates.same),
            changed=changed_count,
            unchanged=len(places) - len(fresh) - changed_count - len(replaced),
            queued=queued + len(replaced),
            rejects=[Reject(rows[record], (reason,)) for record, reason in reasons.items()],
        )

    def count_changes(self, parsed: Sequence[ParsedRow]) -> Counter[str]:
        """Return by market how many restaurants these rows would change. Three queries, no writes."""
        known = self._find_known([each.place for each in parsed])
        restaurants = Restaurant.objects.in_bulk(set(known.values()))
        records = _load_records(known.values())
        own_records = self._own_records(records)
        now, ranks = self.clock(), _load_ranks()
        changes: Counter[str] = Counter()
        for each in parsed:
            # Nothing is locked; a record that staff move at the same time is not counted.
            record = own_records.get(each.place.record)
            if record is None or not _is_current(restaurants[record.restaurant_id]):
                continue
            if self.accepts_replaced or not deduplication.is_other_place(
                restaurants[record.restaurant_id], each.place
            ):
                update = self._update(record, each.place, restaurants, records, ranks)
                changes[update.restaurant.market_id] += update.apply(now=now)
        return changes

    def _find_known(self, places: Sequence[ParsedPlace]) -> dict[str, UUID]:
        records = SourceRecord.objects.filter(source=self.source, record__in=[place.record for place in places])
        return dict(records.values_list("record", "restaurant"))

    def _own_records(self, records: Mapping[UUID, Sequence[SourceRecord]]) -> dict[str, SourceRecord]:
        return {
            record.record: record for each in records.values() for record in each if record.source_id == self.source
        }

    def _update(
        self,
        record: SourceRecord,
        place: ParsedPlace,
        restaurants: Mapping[UUID, Restaurant],
        records: Mapping[UUID, list[SourceRecord]],
        ranks: Mapping[str, int],
    ) -> RecordUpdate:
        others = [each for each in records[record.restaurant_id] if each is not record]
        return RecordUpdate(
            restaurant=restaurants[record.restaurant_id], record=record, place=place, others=others, ranks=ranks
        )

    def _new_record(self, restaurant: Restaurant, place: ParsedPlace) -> SourceRecord:
        return SourceRecord(restaurant=restaurant, source_id=self.source, record=place.record)

    def _create(self, places: Mapping[int, ParsedPlace], *, now: datetime) -> dict[int, Restaurant]:
        """Create the new restaurants; return them by the numbers of their places."""
        addresses = slugs.allocate_slugs(
            [(place.name, place.neighborhood or place.nearby_neighborhood) for place in places.values()]
        )
        restaurants = {
            number: Restaurant(
                slug=slug,
                created_at=now,
                updated_at=now,
                review_count=place.review_count or 0,
                **{column: getattr(place, column) for column in COLUMNS}
                | {"neighborhood": place.neighborhood or place.nearby_neighborhood},
            )
            for slug, (number, place) in zip(addresses, places.items(), strict=True)
        }
        # In a fixed order, so that two writers of the same slugs cannot deadlock.
        Restaurant.objects.bulk_create(sorted(restaurants.values(), key=attrgetter("slug")))
        records = [self._new_record(restaurant, places[number]) for number, restaurant in restaurants.items()]
        for record, place in zip(records, places.values(), strict=True):
            record.digest, record.fields, record.updated_at = place.digest, list_fields(place), now
        SourceRecord.objects.bulk_create(records)
        return restaurants

    def _report_replaced(self, replaced: Sequence[tuple[Restaurant, ParsedPlace]], *, now: datetime) -> dict[str, str]:
        """Report records that became another place to staff, once; return the reason of each record."""
        reasons = {
            place.record: f"{place.record!r} was {restaurant.name!r} and is now {place.name!r} at another place."
            " Staff find it under Reports; --force accepts it."
            for restaurant, place in replaced
        }
        Report.objects.bulk_create(
            [
                Report(
                    restaurant=restaurant,
                    kind=Report.Kind.OTHER,
                    text=f"{self.source}: {reasons[place.record]} ({place.latitude}, {place.longitude})"[:1000],
                    reporter=f"import:{self.source}",
                    created_at=now,
                )
                for restaurant, place in replaced
            ],
            ignore_conflicts=True,
        )
        return reasons

    def _queue_pairs(
        self, pairs: Sequence[deduplication.CandidatePair], *, created: Mapping[int, Restaurant], now: datetime
    ) -> int:
        """Queue uncertain pairs for review by staff; return their number."""
        candidates = []
        for pair in pairs:
            if pair.number in created:
                other = created[pair.other].pk if isinstance(pair.other, int) else pair.other
                first, second = sorted((created[pair.number].pk, other))
                likeness = pair.likeness
                reasons = {
                    "name": likeness.name,
                    "address": likeness.address,
                    "phone": likeness.phone_equal,
                    "distance_m": likeness.distance_m,
                }
                candidates.append(
                    MatchCandidate(
                        first_id=first, second_id=second, score=likeness.score, reasons=reasons, found_at=now
                    )
                )
        MatchCandidate.objects.bulk_create(candidates, ignore_conflicts=True)
        return len(candidates)


def _load_ranks() -> dict[str, int]:
    return dict(Source.objects.values_list("key", "rank"))


def _is_current(restaurant: Restaurant) -> bool:
    """Whether a restaurant is neither merged nor erased; imports do not write to those."""
    return restaurant.merged_into_id is None and restaurant.erased_at is None


def _save_records(updates: Sequence[RecordUpdate]) -> None:
    records = {id(record): record for each in updates for record in (each.record, *each.others)}.values()
    SourceRecord.objects.bulk_update(
        [record for record in records if record.pk], ["digest", "fields", "updated_at"], batch_size=200
    )
    SourceRecord.objects.bulk_create([record for record in records if not record.pk])


def _update_restaurants(changed: Mapping[UUID, Restaurant], *, now: datetime) -> None:
    ordered = [changed[pk] for pk in sorted(changed)]
    for restaurant in ordered:
        restaurant.updated_at = now
    Restaurant.objects.bulk_update(ordered, UPDATE_COLUMNS, batch_size=200)


def _lock_restaurants(pks: set[UUID]) -> tuple[dict[UUID, Restaurant], dict[UUID, list[SourceRecord]]]:
    """Lock the restaurants and then their records, in the order that all writers use."""
    restaurants = Restaurant.objects.select_for_update(of=("self",)).order_by("pk").in_bulk(pks)
    return restaurants, _load_records(pks, lock=True)


def _load_records(pks: Any, *, lock: bool = False) -> dict[UUID, list[SourceRecord]]:
    found = SourceRecord.objects.filter(restaurant__in=set(pks)).order_by("restaurant_id", "pk")
    records: dict[UUID, list[SourceRecord]] = defaultdict(list)
    for record in found.select_for_update(of=("self",)) if lock else found:
        records[record.restaurant_id].append(record)
    return records


def _add_neighborhoods(found: list[ParsedRow]) -> list[ParsedRow]:
    locations = {
        id(each): Location(each.place.latitude, each.place.longitude)
        for each in found
        if each.place.neighborhood is None and each.place.latitude is not None and each.place.longitude is not None
    }
    if not locations:
        return found
    names = dict(zip(locations, find_neighborhoods(list(locations.values())), strict=True))
    return [replace(each, place=replace(each.place, nearby_neighborhood=names.get(id(each)))) for each in found]


def _add_cuisines(places: Sequence[ParsedPlace]) -> None:
    labels = {slug: label for place in places for slug, label in place.cuisine_labels.items()}
    Cuisine.objects.bulk_create(
        [Cuisine(slug=slug, label=label) for slug, label in sorted(labels.items())], ignore_conflicts=True
    )
