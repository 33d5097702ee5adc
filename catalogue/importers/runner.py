"""Runs: a file from its first row to its last, in batches that are each whole, whatever happens in between."""

import codecs
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO, TypeVar

from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.models.functions import Now
from psycopg.errors import DeadlockDetected

from catalogue.importers.row_errors import MovedError, RecordCount, Reject, Row, UnreadableFileError
from catalogue.models import ImportRun, Market
from framework.db.locks import AdvisoryLock

BATCH = 1000

# A writer of the same slugs may be quicker; asked again, the free ones are others.
TRIES = 3
# Staff would have to merge the same restaurant as often within a moment.
TRIES_OF_A_ROW = 20

COUNTED = ("created", "merged", "changed", "unchanged", "skipped", "queued", "closed")

# A batch waits for the batches of another run, so it needs more patience than a request.
PATIENCE_MS = 120_000

RUN_LOCK = AdvisoryLock("import run")
# Without a key: all markets.
BATCH_LOCK = AdvisoryLock("import batch")
RELEASE_LOCK = AdvisoryLock("import release")


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is: of `total` bytes or rows `done`, and what became of the rows so far."""

    doing: str
    done: int
    total: int
    totals: "Totals"


OnStep = Callable[[Step], None]


class StoppedError(Exception):
    """The guard stopped a run before it wrote anything; the message says what would have changed."""


class OfARow(Protocol):
    """What was read from a row and still knows it."""

    @property
    def row(self) -> Row: ...


Found = TypeVar("Found", bound=OfARow)
Written = TypeVar("Written", bound=OfARow, contravariant=True)


class Writer(Protocol[Written]):
    """What stores rows that are read."""

    def write(self, found: Sequence[Written]) -> RecordCount: ...


class Import(Protocol[Found]):
    """What a run needs: rows out of a file, and their way into the database in two steps."""

    @property
    def source(self) -> str: ...

    def rows(self, stream: BinaryIO) -> Iterator[Any]: ...

    def read(self, rows: Sequence[Row]) -> tuple[list[Found], RecordCount]: ...

    def write(self, found: Sequence[Found]) -> RecordCount: ...


@dataclass(slots=True)
class Totals:
    """How many rows of a file were read, and what became of them; `reasons` counts why rows were refused."""

    read: int = 0
    created: int = 0
    merged: int = 0
    changed: int = 0
    unchanged: int = 0
    skipped: int = 0
    queued: int = 0
    closed: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, rows: int, *tallies: RecordCount) -> None:
        self.read += rows
        for tally in tallies:
            for name in COUNTED:
                setattr(self, name, getattr(self, name) + getattr(tally, name))
            self.refused += tally.refused
            self.reasons.update(reject.reason for reject in tally.rejects)


class Rejects:
    """The file that refused rows go to, as JSON lines; it comes to be with the first of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: TextIO | None = None

    def add(self, rejects: Sequence[Reject], *, source: Path) -> None:
        """Write them in the order of their rows."""
        if rejects and self.file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("w", encoding="utf-8")
        if self.file is not None:
            for reject in sorted(rejects, key=lambda each: each.row.number):
                line = {"file": source.name, "number": reject.row.number, "reason": reject.reason}
                self.file.write(_line(line | {"row": reject.row.content}) or _line(line | {"row": None}) or "")
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def run(
    importer: Import[Found],
    path: Path,
    *,
    market: Market | None,
    rejects: Rejects,
    now: datetime,
    dry_run: bool = False,
    on_step: OnStep = lambda _: None,
) -> Totals:
    """Import a file row by row; after each batch `on_step` hears how many bytes are read.

    Each batch is one transaction, so a run that is killed leaves whole batches and the next one completes it. Two
    runs of one source take turns by batch. Nothing is left of a dry run, not even its ImportRun.
    Raises UnreadableFileError when the file is not what the importer reads; what came before it is stored.
    """
    totals = Totals()
    log = Log(source=importer.source, file=str(path), market=market, rejects=rejects, now=now, dry_run=dry_run)
    with path.open("rb") as stream, recorded(log, totals) as save:
        skip_byte_order_mark(stream)
        for rows in batches(importer.rows(stream)):
            found, tally = importer.read(rows)
            stored = store(importer, found, market=market, dry_run=dry_run)
            totals.add(len(rows), tally, stored)
            rejects.add((*tally.rejects, *stored.rejects), source=path)
            save()
            on_step(Step("read", stream.tell(), path.stat().st_size, totals))
    return totals


def skip_byte_order_mark(stream: BinaryIO) -> None:
    if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        stream.seek(0)


def batches(contents: Iterator[Any]) -> Iterator[list[Row]]:
    """The rows by BATCH. What stands before the place where a file becomes unreadable is a batch too."""
    rows: list[Row] = []
    try:
        for number, content in enumerate(contents, start=1):
            rows.append(Row(number, content))
            if len(rows) == BATCH:
                yield rows
                rows = []
    except UnreadableFileError:
        if rows:
            yield rows
        raise
    if rows:
        yield rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What an ImportRun says of a run from its beginning."""

    source: str
    file: str
    market: Market | None
    rejects: Rejects
    now: datetime
    dry_run: bool
    forced: bool = False


@contextmanager
def recorded(log: Log, totals: Totals) -> Iterator[Callable[[], None]]:
    """Keep the run's ImportRun: gives what brings its counts up to date, and ends with it done, failed or stopped."""
    if log.dry_run:
        yield lambda: None
        return
    _bury_the_dead()
    lock = ExitStack()
    with transaction.atomic():
        row = ImportRun.objects.create(
            source_id=log.source, market=log.market, file=log.file[-400:], started_at=log.now, forced=log.forced
        )
        # Held as long as this connection lives, which tells others that the run does. The row is locked before they
        # can see it.
        lock.enter_context(RUN_LOCK.session(row.pk))

    def save(**columns: Any) -> None:
        counts = {name: count for name, count in asdict(totals).items() if name != "reasons"}
        file = str(log.rejects.path)[-400:] if totals.refused else ""
        ImportRun.objects.filter(pk=row.pk).update(**counts, rejects_file=file, **columns)

    with lock:
        try:
            yield save
            save(state=ImportRun.State.DONE, error="", finished_at=Now())
        except StoppedError as error:
            save(state=ImportRun.State.STOPPED, error=str(error), finished_at=Now())
            raise
        except BaseException as error:
            words = str(error) or type(error).__name__
            save(state=ImportRun.State.FAILED, error=words, finished_at=Now())
            raise


def _bury_the_dead() -> None:
    """Say of runs that were killed that they failed."""
    for row in ImportRun.objects.filter(state=ImportRun.State.RUNNING).order_by("pk"):
        with RUN_LOCK.session(row.pk) as is_dead:
            if is_dead:
                ImportRun.objects.filter(pk=row.pk, state=ImportRun.State.RUNNING).update(
                    state=ImportRun.State.FAILED, error="The run was killed. Import the file again.", finished_at=Now()
                )


def store(importer: Writer[Found], found: Sequence[Found], *, market: Market | None, dry_run: bool) -> RecordCount:
    """Write a batch; when the database refuses it, write its rows one by one, so that only broken ones are left."""
    for _ in range(TRIES):
        try:
            return _write(importer, found, market=market, dry_run=dry_run)
        except (IntegrityError, MovedError):
            continue
        except OperationalError as error:
            if not _gave_way(error):
                raise
        except DataError:
            break
    tally = RecordCount()
    for each in found:
        try:
            written = _write_one(importer, each, market=market, dry_run=dry_run)
        except (DataError, IntegrityError) as error:
            tally.rejects.append(Reject(each.row, f"The database refuses it: {str(error).splitlines()[0]}"))
        else:
            for name in COUNTED:
                setattr(tally, name, getattr(tally, name) + getattr(written, name))
    return tally


def _write_one(importer: Writer[Found], each: Found, *, market: Market | None, dry_run: bool) -> RecordCount:
    for _ in range(TRIES_OF_A_ROW):
        try:
            return _write(importer, [each], market=market, dry_run=dry_run)
        except MovedError:
            continue
        except OperationalError as error:
            if not _gave_way(error):
                raise
    return _write(importer, [each], market=market, dry_run=dry_run)


def _gave_way(error: OperationalError) -> bool:
    """Whether somebody wrote the same restaurants in another order, and we were the ones to give way."""
    return isinstance(error.__cause__, DeadlockDetected)


def _write(importer: Writer[Found], found: Sequence[Found], *, market: Market | None, dry_run: bool) -> RecordCount:
    if not found:
        return RecordCount()
    with turn(market, dry_run=dry_run):
        return importer.write(found)


@contextmanager
def turn(market: Market | None, *, dry_run: bool) -> Iterator[None]:
    """A transaction of an import in which no other import writes into the same market, whatever its source.

    So two sources cannot both make a restaurant of one place at the same time. A dry run is rolled back.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            for timeout in ("statement_timeout", "lock_timeout"):
                cursor.execute("SELECT set_config(%s, %s, true)", [timeout, str(PATIENCE_MS)])
        if market is None:
            BATCH_LOCK.acquire()
        else:
            # A run without a market writes into all of them; runs with one only exclude that one.
            BATCH_LOCK.acquire(shared=True)
            BATCH_LOCK.acquire(market.slug)
        yield
        transaction.set_rollback(dry_run)


@contextmanager
def release_of(source: str, *, is_complete: bool) -> Iterator[None]:
    """Wait until no complete release of this source is imported; a complete one waits for all runs of the source.

    Otherwise what another run adds would be absent from this release, and closed.
    """
    with RELEASE_LOCK.session(source, shared=not is_complete, retry_every_s=0.2):
        yield


def _line(content: dict[str, Any]) -> str | None:
    """A line of JSON; None for what no JSON can say, nested deeper than Python goes or with numbers that are none."""
    try:
        return json.dumps(content, default=_text, allow_nan=False) + "\n"
    except (ValueError, RecursionError):
        return None


def _text(content: object) -> str:
    """A line of bytes as text, for the rejects."""
    return content.decode(errors="replace").rstrip() if isinstance(content, bytes) else repr(content)
