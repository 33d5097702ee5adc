"""Releases of restaurants: all rows are staged, compared with the catalogue, guarded, and then written in batches."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from catalogue.history import publish
from catalogue.importers.field_provenance import MISSING
from catalogue.importers.parsing.input_files import open_input, size_of
from catalogue.importers.row_errors import RowCounts, UnreadableFileError
from catalogue.importers.runner import (
    BATCH_SIZE,
    ImportStopped,
    RejectsFile,
    RunTotals,
    batch_rows,
    batch_transaction,
    record_run,
    release_lock,
    write_batch,
)
from catalogue.importers.sources.wikidata_landmarks import LandmarkImport
from catalogue.importers.staging import MarketComparison, StagingTable
from catalogue.importers.upsert import ParsedRow, RestaurantImport
from catalogue.models import Market, Restaurant, SourceRecord
from framework.cli.progress import OnProgress, no_progress

# A release that changes more of a market needs --force.
MAX_CHANGED_SHARE = 0.05
# With fewer records in the market only closures count: at most 5, and at most half of the records.
MIN_RECORDS_FOR_SHARE = 100
MAX_CLOSED_OF_FEW = 5
# Staff wait at most two seconds for a restaurant that a batch has locked; these reviews take one second.
MAX_REVIEWS_PER_WRITE = 5_000


@dataclass(slots=True)
class _Run:
    importer: RestaurantImport
    paths: Sequence[Path]
    market: Market | None
    rejects: RejectsFile
    dry_run: bool
    totals: RunTotals
    staging: StagingTable
    on_step: OnProgress
    save: Callable[[], None] = lambda: None  # until the run is recorded

    def stage(self) -> UnreadableFileError | None:
        """Copy every row of all files to the staging table; return the error at which a file ended, if any."""
        self.staging.create()
        error = None
        for file, path in enumerate(self.paths):
            try:
                with open_input(path) as stream:
                    size = size_of(stream)
                    for rows in batch_rows(self.importer.reader.read_rows(stream)):
                        extracted, counts = self.importer.extract(rows)
                        self.staging.add(extracted, file=file)
                        self.totals.add_batch(counts, read=len(rows))
                        self.rejects.add(counts, source=path)
                        self.on_step("bytes read", stream.tell(), size)
            except UnreadableFileError as unreadable:
                error = unreadable
        self.staging.build_index()
        return error

    def deduplicate(self) -> None:
        """Leave one staged row per record."""
        if self.importer.reader.is_grouped:
            self.totals.add_batch(RowCounts(unchanged=self.staging.merge_parts()))
            return
        identical, conflicting = self.staging.drop_duplicates()
        self.totals.add_batch(RowCounts(unchanged=identical))
        for file, reject in conflicting:
            counts = RowCounts(rejects=[reject])
            self.totals.add_batch(counts)
            self.rejects.add(counts, source=self.paths[file])

    def guard(self) -> None:
        """Raise ImportStopped if too many restaurants of a market would change or be closed."""
        suspects = [market for market in self.staging.compare() if _exceeds_limit(market, market.changed)]
        if not suspects:
            return
        # A row with another digest does not always change its restaurant; only now is it worth finding out.
        changes: Counter[str] = Counter()
        for _, page in self.staging.list_pending(limit=BATCH_SIZE, new=False):
            parsed, _ = self.importer.parse([extracted for _, extracted in page])
            changes += self.importer.count_changes(parsed)
        exceeded = [each for each in suspects if _exceeds_limit(each, changes[each.market])]
        if exceeded:
            summary = " ".join(
                f"{each.market}: {changes[each.market]} of {each.records} restaurants would change and {each.missing}"
                f" be closed, {(changes[each.market] + each.missing) / each.records:.1%} and more than"
                f" {_describe_limit(each)}."
                for each in exceeded
            )
            raise ImportStopped(f"{summary} Nothing was written. When this is meant, import with --force.")

    def upsert(self) -> None:
        """Write new and changed records, one transaction per batch."""
        total = unchanged = self.staging.count()
        for _, page in self.staging.list_pending(limit=BATCH_SIZE):
            files = {id(extracted.row): file for file, extracted in page}
            parsed, parse_counts = self.importer.parse([extracted for _, extracted in page])
            batches = [
                parse_counts,
                *(
                    write_batch(self.importer, portion, market=self.market, dry_run=self.dry_run)
                    for portion in _split_by_reviews(parsed)
                ),
            ]
            for counts in batches:
                self.totals.add_batch(counts)
                for file, path in enumerate(self.paths):
                    of_file = RowCounts(
                        rejects=[each for each in counts.rejects if files[id(each.row)] == file],
                        incomplete=[each for each in counts.incomplete if files[id(each.row)] == file],
                    )
                    self.rejects.add(of_file, source=path)
            unchanged -= len(page)
            self.save()
            self.on_step("rows written", total - unchanged, total)
        self.totals.add_batch(RowCounts(unchanged=unchanged))

    def upsert_hotels(self) -> None:
        """Write the hotels of the files as landmarks, one transaction per batch; their rows count as skipped."""
        hotels = list({hotel.key: hotel for hotel in self.importer.hotels}.values())
        landmarks = LandmarkImport(self.importer.markets, self.importer.source)
        for start in range(0, len(hotels), BATCH_SIZE):
            batch = hotels[start : start + BATCH_SIZE]
            write_batch(landmarks, batch, market=self.market, dry_run=self.dry_run)

    def close_missing(self) -> None:
        """Close the records that are missing in the release, one transaction per batch."""
        after = 0
        while page := self.staging.list_missing(after=after, limit=BATCH_SIZE):
            after = page[-1][0]
            with batch_transaction(self.market, dry_run=self.dry_run):
                closed = close_missing(page, source=self.importer.source, clock=self.importer.clock)
            self.totals.add_batch(RowCounts(closed=closed))
            self.save()


def import_snapshot(
    importer: RestaurantImport,
    paths: Sequence[Path],
    *,
    market: Market | None,
    rejects: RejectsFile,
    now: datetime,
    dry_run: bool = False,
    is_complete: bool = False,
    forced: bool = False,
    on_step: OnProgress = no_progress,
) -> RunTotals:
    """Import files of restaurants as one release, with constant memory; `on_step` is called after each batch.

    Each batch is one transaction, so a killed run leaves whole batches and the next one completes it. A complete
    release closes the restaurants that are missing in it; unless forced, it is stopped before it writes anything if it
    would change or close too much of a market. A dry run writes nothing.

    Raises ImportStopped, and UnreadableFileError if a file has another format: a complete release writes nothing then,
    any other the rows before the error.
    """
    totals = RunTotals()
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    recorded = record_run(
        totals,
        source=importer.source,
        file=f"{str(paths[0])[-380:]}{more}",
        market=market,
        rejects=rejects,
        now=now,
        dry_run=dry_run,
        forced=forced,
    )
    importer = replace(importer, accepts_replaced=forced)
    staging = StagingTable(source=importer.source)
    run = _Run(importer, paths, market, rejects, dry_run, totals, staging, on_step)
    with recorded as run.save, release_lock(importer.source, is_complete=is_complete):
        error = run.stage()
        if error is not None and is_complete:
            raise error
        run.deduplicate()
        run.staging.adopt_moved_records()
        if is_complete and not forced:
            run.guard()
        run.upsert()
        run.upsert_hotels()
        if is_complete:
            run.close_missing()
        if error is not None:
            raise error
    return totals


def close_missing(missing: Sequence[tuple[int, UUID]], *, source: str, clock: Callable[[], datetime]) -> int:
    """Mark these records as missing and close the restaurants that no source has any more; return their number.

    A status that staff have locked stays. Call it in batch_transaction.
    """
    publish.set_actor(f"import:{source}")
    pks = {pk for _, pk in missing}
    ids = {record for record, _ in missing}
    restaurants = list(Restaurant.objects.filter(pk__in=pks).select_for_update().order_by("pk"))
    records = SourceRecord.objects.filter(restaurant__in=pks).select_for_update(of=("self",)).order_by("pk")
    still_listed = {each.restaurant_id for each in records if each.pk not in ids and each.digest != MISSING}
    SourceRecord.objects.filter(pk__in=ids).update(digest=MISSING)
    closed = [
        each.pk
        for each in restaurants
        if each.pk not in still_listed
        and "status" not in each.locked_fields
        and each.status != Restaurant.Status.PERMANENTLY_CLOSED
        and each.merged_into_id is None
        and each.erased_at is None
    ]
    return Restaurant.objects.filter(pk__in=closed).update(
        status=Restaurant.Status.PERMANENTLY_CLOSED, updated_at=clock()
    )


def _split_by_reviews(parsed: Sequence[ParsedRow]) -> Iterator[Sequence[ParsedRow]]:
    """Split a batch so that each portion has at most MAX_REVIEWS_PER_WRITE, or is a single restaurant."""
    start, reviews = 0, 0
    for end, each in enumerate(parsed):
        more = len(each.place.reviews or ())
        if end > start and reviews + more > MAX_REVIEWS_PER_WRITE:
            yield parsed[start:end]
            start, reviews = end, 0
        reviews += more
    if start < len(parsed):
        yield parsed[start:]


def _exceeds_limit(market: MarketComparison, changed: int) -> bool:
    if market.records >= MIN_RECORDS_FOR_SHARE:
        return changed + market.missing > MAX_CHANGED_SHARE * market.records
    return market.missing > min(MAX_CLOSED_OF_FEW, market.records / 2)


def _describe_limit(market: MarketComparison) -> str:
    if market.records >= MIN_RECORDS_FOR_SHARE:
        return f"{MAX_CHANGED_SHARE:.0%}"
    return f"{MAX_CLOSED_OF_FEW} closed, or half of them"
