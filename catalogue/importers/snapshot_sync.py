"""Releases: files of restaurants that are staged as a whole, compared, guarded and then written batch by batch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from catalogue.history import publish
from catalogue.importers.field_provenance import ABSENT
from catalogue.importers.row_errors import RecordCount, UnreadableFileError
from catalogue.importers.runner import (
    BATCH,
    Log,
    OnStep,
    Rejects,
    Step,
    StoppedError,
    Totals,
    batches,
    recorded,
    release_of,
    skip_byte_order_mark,
    store,
    turn,
)
from catalogue.importers.staging import Figures, Staging
from catalogue.importers.upsert import ReadPlace, RestaurantImport
from catalogue.models import Market, Restaurant, SourceRecord

# A release may change so much of a market without anybody looking, and is not guarded where the source was small.
MOST_CHANGED = 0.05
LEAST_RECORDS = 100

# Whoever wants a restaurant waits until its batch is written, staff no longer than two seconds: these take one.
MOST_REVIEWS = 5_000


@dataclass(slots=True)
class _Run:
    importer: RestaurantImport
    paths: Sequence[Path]
    market: Market | None
    rejects: Rejects
    dry_run: bool
    totals: Totals
    staging: Staging
    on_step: OnStep
    save: Callable[[], None] = lambda: None  # until the run is recorded

    def stage(self) -> UnreadableFileError | None:
        """Every row of all files into the staging; the error at which a file ended, if one did."""
        sizes = [path.stat().st_size for path in self.paths]
        self.staging.begin()
        error = None
        for file, path in enumerate(self.paths):
            with path.open("rb") as stream:
                skip_byte_order_mark(stream)
                try:
                    for rows in batches(self.importer.rows(stream)):
                        found, tally = self.importer.sketch(rows)
                        self.staging.add(found, file=file)
                        self.totals.add(len(rows), tally)
                        self.rejects.add(tally.rejects, source=path)
                        self.on_step(Step("read", sum(sizes[:file]) + stream.tell(), sum(sizes), self.totals))
                except UnreadableFileError as problem:
                    error = problem
        self.staging.end()
        return error

    def fold(self) -> None:
        """Leave one row of each record."""
        if self.importer.reader.IS_GROUPED:
            self.totals.add(0, RecordCount(unchanged=self.staging.group()))
            return
        same, rejects = self.staging.repeated()
        self.totals.add(0, RecordCount(unchanged=same))
        for file, reject in rejects:
            self.totals.add(0, RecordCount(rejects=[reject]))
            self.rejects.add([reject], source=self.paths[file])

    def guard(self) -> None:
        """Raise StoppedError when a market would change by more than 5 %."""
        suspects = [each for each in self.staging.compare() if _is_much(each, each.stated)]
        if not suspects:
            return
        # Not every row that reads otherwise changes its restaurant, and only then is that worth finding out.
        differing: dict[str, int] = {}
        for _, page in self.staging.pending(limit=BATCH, new=False):
            found, _ = self.importer.read([sketched for _, sketched in page])
            for market, count in self.importer.differing(found).items():
                differing[market] = differing.get(market, 0) + count
        words = [
            _words(each, differing.get(each.market, 0))
            for each in suspects
            if _is_much(each, differing.get(each.market, 0))
        ]
        if words:
            raise StoppedError(f"{' '.join(words)} Nothing was written. When this is meant, import with --force.")

    def write(self) -> None:
        """What is new or said otherwise, a batch in a transaction."""
        rest = self.staging.count()
        total, seen = rest, 0
        for _, page in self.staging.pending(limit=BATCH):
            files = {id(sketched.row): file for file, sketched in page}
            found, tally = self.importer.read([sketched for _, sketched in page])
            stored = [
                store(self.importer, portion, market=self.market, dry_run=self.dry_run) for portion in _portions(found)
            ]
            self.totals.add(0, tally, *stored)
            rejects = [reject for each in (tally, *stored) for reject in each.rejects]
            for file, path in enumerate(self.paths):
                refused = [each for each in rejects if files[id(each.row)] == file]
                self.rejects.add(refused, source=path)
            rest -= len(page)
            seen += len(page)
            self.save()
            self.on_step(Step("written", seen, total, self.totals))
        self.totals.add(0, RecordCount(unchanged=rest))

    def close(self) -> None:
        """What the release has no more, a batch in a transaction."""
        after = 0
        while page := self.staging.absentees(after=after, limit=BATCH):
            after = page[-1][0]
            with turn(self.market, dry_run=self.dry_run):
                closed = close_absent(page, source=self.importer.source, clock=self.importer.clock)
            self.totals.add(0, RecordCount(closed=closed))
            self.save()


def take(
    importer: RestaurantImport,
    paths: Sequence[Path],
    *,
    market: Market | None,
    rejects: Rejects,
    now: datetime,
    dry_run: bool = False,
    is_complete: bool = False,
    forced: bool = False,
    on_step: OnStep = lambda _: None,
) -> Totals:
    """Import files of restaurants as one release; after each batch `on_step` hears how far it is.

    Memory stays the same however long they are. Each batch is one transaction, so a run that is killed leaves whole
    batches and the next one completes it. A complete release closes what it has no more, and is stopped before it
    writes anything when it would change more than 5 % of a market, unless forced. Nothing is left of a dry run.
    Raises StoppedError, and UnreadableFileError when a file is not what the importer reads: then of a complete
    release nothing is stored, of any other what came before.
    """
    totals = Totals()
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    log = Log(
        source=importer.source,
        file=f"{str(paths[0])[-380:]}{more}",
        market=market,
        rejects=rejects,
        now=now,
        dry_run=dry_run,
        forced=forced,
    )
    staging = Staging(source=importer.source)
    run = _Run(importer, paths, market, rejects, dry_run, totals, staging, on_step)
    with recorded(log, totals) as run.save, release_of(importer.source, is_complete=is_complete):
        error = run.stage()
        if error is not None and is_complete:
            raise error
        run.fold()
        if is_complete and not forced:
            run.guard()
        run.write()
        if is_complete:
            run.close()
        if error is not None:
            raise error
    return totals


def close_absent(absentees: Sequence[tuple[int, UUID]], *, source: str, clock: Callable[[], datetime]) -> int:
    """Mark these records of the source as absent, and close what no source names any more; how many are closed.

    What staff said of the status stays. Call it in a transaction that holds the import's lock.
    """
    publish.set_actor(f"import:{source}")
    pks = {pk for _, pk in absentees}
    ids = {record for record, _ in absentees}
    restaurants = list(Restaurant.objects.filter(pk__in=pks).select_for_update().order_by("pk"))
    records = SourceRecord.objects.filter(restaurant__in=pks).select_for_update(of=("self",)).order_by("pk")
    named = {each.restaurant_id for each in records if each.pk not in ids and each.digest != ABSENT}
    SourceRecord.objects.filter(pk__in=ids).update(digest=ABSENT)
    gone = [
        each.pk
        for each in restaurants
        if each.pk not in named
        and "status" not in each.locked_fields
        and each.status != Restaurant.Status.PERMANENTLY_CLOSED
        and each.merged_into_id is None
        and each.erased_at is None
    ]
    return Restaurant.objects.filter(pk__in=gone).update(
        status=Restaurant.Status.PERMANENTLY_CLOSED, updated_at=clock()
    )


def _portions(found: Sequence[ReadPlace]) -> Iterator[Sequence[ReadPlace]]:
    """Parts of a batch with MOST_REVIEWS at most, or a single restaurant that has more."""
    start, reviews = 0, 0
    for end, each in enumerate(found):
        more = len(each.place.reviews or ())
        if end > start and reviews + more > MOST_REVIEWS:
            yield found[start:end]
            start, reviews = end, 0
        reviews += more
    if start < len(found):
        yield found[start:]


def _is_much(figures: Figures, differing: int) -> bool:
    return figures.records >= LEAST_RECORDS and differing + figures.absent > MOST_CHANGED * figures.records


def _words(figures: Figures, differing: int) -> str:
    share = (differing + figures.absent) / figures.records
    return (
        f"{figures.market}: {differing} of {figures.records} restaurants would change and {figures.absent} be closed,"
        f" {share:.1%} and more than {MOST_CHANGED:.0%}."
    )
