"""Import runs: a file is read row by row and written in batches, each of which is one transaction."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO, TypeVar

from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.models.functions import Now
from psycopg.errors import DeadlockDetected

from catalogue.importers.parsing.input_files import open_input, size_of
from catalogue.importers.row_errors import (
    Counts,
    Reject,
    Row,
    RowCounts,
    UnreadableFileError,
    WriteConflict,
    group_reason,
)
from catalogue.models import ImportRun, Market
from framework.cli.progress import OnProgress, no_progress
from framework.db.locks import AdvisoryLock

BATCH_SIZE = 1000
# Another writer may take the same slugs first; the next try finds free ones.
MAX_BATCH_TRIES = 3
# A row fails this often only if staff merge the same restaurant again and again within seconds.
MAX_ROW_TRIES = 20
# A batch waits for the batches of other runs, so it waits longer than a request.
TIMEOUT_MS = 120_000

# The outcomes that have reasons.
REJECTED, LEFT_OUT, SKIPPED = "rejected", "left out", "skipped"
# Reasons of an outcome, and unread keys, that a run stores.
MAX_REASONS = 50

RUN_LOCK = AdvisoryLock("import run")
# Without a key: all markets.
BATCH_LOCK = AdvisoryLock("import batch")
RELEASE_LOCK = AdvisoryLock("import release")


# The counts of a run, in the order of the summary.
COUNTS = (
    "read", "created", "merged", "changed", "unchanged", "skipped", "rejected", "incomplete", "queued", "closed",
)  # fmt: skip


class ImportStopped(Exception):
    """The guard stopped a run before it wrote anything; the message says what would have changed."""


class HasRow(Protocol):
    @property
    def row(self) -> Row: ...


Parsed = TypeVar("Parsed", bound=HasRow)
Writable = TypeVar("Writable", bound=HasRow, contravariant=True)


class Writer(Protocol[Writable]):
    def upsert(self, parsed: Sequence[Writable]) -> RowCounts: ...


class Importer(Writer[Parsed], Protocol[Parsed]):
    @property
    def source(self) -> str: ...

    def read_rows(self, stream: BinaryIO) -> Iterator[Any]: ...

    def parse(self, rows: Sequence[Row]) -> tuple[list[Parsed], RowCounts]: ...


@dataclass(slots=True)
class ReasonCount:
    """How many rows have a reason; `example` is the first of them."""

    rows: int = 0
    example: str = ""


@dataclass(slots=True)
class RunTotals(Counts):
    """The counts of a run.

    `incomplete` rows were imported without some of their values. `reasons` has, by outcome ("rejected", "skipped",
    "left out"), how many rows have each reason; `unread_keys` the keys that the importer does not read.
    """

    read: int = 0
    rejected: int = 0
    incomplete: int = 0
    reasons: dict[str, dict[str, ReasonCount]] = field(default_factory=lambda: defaultdict(dict))
    unread_keys: Counter[str] = field(default_factory=Counter)

    def add_batch(self, counts: RowCounts, *, read: int = 0) -> None:
        self.add(counts)
        self.read += read
        self.rejected += len(counts.rejects)
        self.incomplete += len(counts.incomplete)
        self.unread_keys += counts.unread_keys
        for outcome, rows in ((REJECTED, counts.rejects), (LEFT_OUT, counts.incomplete)):
            for each in rows:
                for reason in each.reasons:
                    self._count_reason(outcome, group_reason(reason), 1, f"row {each.row.number}: {reason}"[:200])
        for reason, number in counts.skip_reasons.items():
            self._count_reason(SKIPPED, reason, number, "")

    def reasons_json(self) -> dict[str, Any]:
        """Return the reasons as they are stored: at most 50 of each outcome, the most frequent first."""
        rows = {
            outcome: {reason: asdict(each) for reason, each in self.most_common(outcome)[:MAX_REASONS]}
            for outcome in (REJECTED, LEFT_OUT, SKIPPED)
            if self.reasons.get(outcome)
        }
        keys = dict(self.unread_keys.most_common(MAX_REASONS))
        return {**rows, **({"unread_keys": keys} if keys else {})}

    def most_common(self, outcome: str) -> list[tuple[str, ReasonCount]]:
        """Return the reasons of an outcome, the most frequent first."""
        return sorted(self.reasons.get(outcome, {}).items(), key=lambda each: (-each[1].rows, each[0]))

    def _count_reason(self, outcome: str, reason: str, rows: int, example: str) -> None:
        counted = self.reasons[outcome].setdefault(reason, ReasonCount(example=example))
        counted.rows += rows


class RejectsFile:
    """The file of rejected rows, and of values that were left out, as JSON lines; it is created with the first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: TextIO | None = None

    def add(self, counts: RowCounts, *, source: Path) -> None:
        """Write rejects and incomplete rows in their order; the latter without their content, which is imported."""
        outcomes = [(reject, REJECTED) for reject in counts.rejects] + [(each, LEFT_OUT) for each in counts.incomplete]
        if outcomes and self.file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("w", encoding="utf-8")
        if self.file is not None:
            for each, outcome in sorted(outcomes, key=lambda pair: pair[0].row.number):
                line = {"file": source.name, "number": each.row.number, "outcome": outcome, "reason": each.reason}
                content = each.row.content if outcome == REJECTED else None
                self.file.write(_to_json_line(line | {"row": content}) or _to_json_line(line | {"row": None}) or "")
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def import_rows(
    importer: Importer[Parsed],
    path: Path,
    *,
    market: Market | None,
    rejects: RejectsFile,
    now: datetime,
    dry_run: bool = False,
    on_step: OnProgress = no_progress,
) -> RunTotals:
    """Import a file row by row; `on_step` is called after each batch with the bytes read.

    Each batch is one transaction, so a killed run leaves whole batches and the next one completes it. Two runs of one
    source alternate by batch. A dry run writes nothing, not even its ImportRun. Raises UnreadableFileError if the file
    has another format; the rows before the error are stored.
    """
    totals = RunTotals()
    recorded = record_run(
        totals, source=importer.source, file=str(path), market=market, rejects=rejects, now=now, dry_run=dry_run
    )
    with recorded as save, open_input(path) as stream:
        size = size_of(stream)
        for rows in batch_rows(importer.read_rows(stream)):
            parsed, parse_counts = importer.parse(rows)
            write_counts = write_batch(importer, parsed, market=market, dry_run=dry_run)
            totals.add_batch(parse_counts, read=len(rows))
            totals.add_batch(write_counts)
            for counts in (parse_counts, write_counts):
                rejects.add(counts, source=path)
            save()
            on_step("bytes read", stream.tell(), size)
    return totals


def batch_rows(contents: Iterator[Any]) -> Iterator[list[Row]]:
    """Yield rows in batches; a reader of lines numbers its rows itself.

    The rows before an UnreadableFileError are a batch too.
    """
    rows: list[Row] = []
    try:
        for number, content in enumerate(contents, start=1):
            rows.append(content if isinstance(content, Row) else Row(number, content))
            if len(rows) == BATCH_SIZE:
                yield rows
                rows = []
    except UnreadableFileError:
        if rows:
            yield rows
        raise
    if rows:
        yield rows


@contextmanager
def record_run(
    totals: RunTotals,
    *,
    source: str,
    file: str,
    market: Market | None,
    rejects: RejectsFile,
    now: datetime,
    dry_run: bool,
    forced: bool = False,
) -> Iterator[Callable[[], None]]:
    """Record an ImportRun: yield a function that saves its counts, and set its final state at the end."""
    if dry_run:
        yield lambda: None
        return
    _fail_killed_runs()
    lock = ExitStack()
    with transaction.atomic():
        run = ImportRun.objects.create(
            source_id=source, market=market, file=file[-400:], started_at=now, forced=forced
        )
        # Held as long as this connection lives: other processes see that the run is alive. It is acquired before the
        # row is visible.
        lock.enter_context(RUN_LOCK.session(run.pk))

    def save(**columns: Any) -> None:
        counts = {name: getattr(totals, name) for name in COUNTS}
        rejects_file = str(rejects.path)[-400:] if totals.rejected or totals.incomplete else ""
        ImportRun.objects.filter(pk=run.pk).update(
            **counts, reasons=totals.reasons_json(), rejects_file=rejects_file, **columns
        )

    with lock:
        try:
            yield save
            save(state=ImportRun.State.DONE, error="", finished_at=Now())
        except BaseException as error:
            state = ImportRun.State.STOPPED if isinstance(error, ImportStopped) else ImportRun.State.FAILED
            save(state=state, error=str(error) or type(error).__name__, finished_at=Now())
            raise


def _fail_killed_runs() -> None:
    """Mark running runs as failed whose process does not hold their lock any more."""
    for run in ImportRun.objects.filter(state=ImportRun.State.RUNNING).order_by("pk"):
        with RUN_LOCK.session(run.pk) as is_killed:
            if is_killed:
                ImportRun.objects.filter(pk=run.pk, state=ImportRun.State.RUNNING).update(
                    state=ImportRun.State.FAILED, error="The run was killed. Import the file again.", finished_at=Now()
                )


def write_batch(
    importer: Writer[Parsed], parsed: Sequence[Parsed], *, market: Market | None, dry_run: bool
) -> RowCounts:
    """Write a batch; if the database rejects it, write its rows one by one, so that only invalid ones are rejected."""
    for _ in range(MAX_BATCH_TRIES):
        try:
            return _write_once(importer, parsed, market=market, dry_run=dry_run)
        except (IntegrityError, WriteConflict):
            continue
        except DataError:
            break
    counts = RowCounts()
    for each in parsed:
        try:
            counts.add_rows(_write_row(importer, each, market=market, dry_run=dry_run))
        except (DataError, IntegrityError) as error:
            counts.rejects.append(Reject(each.row, (f"The database rejects it: {str(error).splitlines()[0]}",)))
    return counts


def _write_row(importer: Writer[Parsed], each: Parsed, *, market: Market | None, dry_run: bool) -> RowCounts:
    for _ in range(MAX_ROW_TRIES):
        with suppress(WriteConflict):
            return _write_once(importer, [each], market=market, dry_run=dry_run)
    return _write_once(importer, [each], market=market, dry_run=dry_run)


def _write_once(
    importer: Writer[Parsed], parsed: Sequence[Parsed], *, market: Market | None, dry_run: bool
) -> RowCounts:
    if not parsed:
        return RowCounts()
    try:
        with batch_transaction(market, dry_run=dry_run):
            return importer.upsert(parsed)
    except OperationalError as error:
        if isinstance(error.__cause__, DeadlockDetected):
            raise WriteConflict from error
        raise


@contextmanager
def batch_transaction(market: Market | None, *, dry_run: bool) -> Iterator[None]:
    """Open a transaction in which no other import writes to the same market; a dry run is rolled back.

    So two sources cannot create a restaurant of the same place at the same time.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            for timeout in ("statement_timeout", "lock_timeout"):
                cursor.execute("SELECT set_config(%s, %s, true)", [timeout, str(TIMEOUT_MS)])
        if market is None:
            BATCH_LOCK.acquire()
        else:
            # A run without a market writes to all markets; one with a market excludes only that one.
            BATCH_LOCK.acquire(shared=True)
            BATCH_LOCK.acquire(market.slug)
        yield
        transaction.set_rollback(dry_run)


@contextmanager
def release_lock(source: str, *, is_complete: bool) -> Iterator[None]:
    """Exclude complete releases of a source from all its other runs.

    Otherwise restaurants that another run adds would be missing in the complete release, and closed.
    """
    with RELEASE_LOCK.session(source, shared=not is_complete, retry_every_s=0.2):
        yield


def _to_json_line(content: dict[str, Any]) -> str | None:
    """Return a JSON line; None for content that is nested too deep or has NaN or Infinity."""
    try:
        return json.dumps(content, default=_to_text, allow_nan=False) + "\n"
    except (ValueError, RecursionError):
        return None


def _to_text(content: object) -> str:
    return content.decode(errors="replace").rstrip() if isinstance(content, bytes) else repr(content)
