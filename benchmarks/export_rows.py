"""The rows of exports: all reviews as parquet and as JSON lines, beside COPY of the same rows to nowhere."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow.parquet as parquet

from benchmarks.exports import BenchmarkFailed, run_export, time_copy
from benchmarks.figures import OURS, Bound, Figure, Row, WrongAnswer
from benchmarks.suites import Run

if TYPE_CHECKING:
    from catalogue.models import Export

COPY = "COPY to nowhere"
MAX_S = 900.0
MAX_ROUNDS = 3
# Below this an export is mostly its beginning and its end, and its rate says nothing of rows.
MIN_JUDGED_ROWS = 1_000_000
GOALS = {"parquet": (0.35, 0.5), "jsonl.gz": (0.35, 0.4)}
CHUNK_BYTES = 1 << 20


class Exports:
    """Each as staff order one: written by the workers of the product, in turn with COPY by one client."""

    name = "exports"
    rows: tuple[str, ...] = tuple(GOALS)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return sum(2 * min(run.rounds, MAX_ROUNDS) for name in GOALS if name in wanted)

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The rows. Raises WrongAnswer when files do not hold what is said of them."""
        from django.db import connection

        is_judged = run.product.reviews >= MIN_JUDGED_ROWS
        run.settings["exports"] = {
            OURS: "from the order to the manifest, by the two pool processes of the worker, in parts",
            COPY: "the same columns and rows in no order by one client: FORMAT binary, and JSON lines raw",
            "judged": is_judged or f"not below {MIN_JUDGED_ROWS:,} reviews",
        }
        for name, (gate, goal) in GOALS.items():
            if name in wanted:
                turns = Turns(name)
                figures = limit_rounds(run).run_in_turns(name, {OURS: turns.export, COPY: turns.copy})
                turns.forget()
                bound = Bound(of=COPY, gate=gate, goal=goal) if is_judged else Bound(of=COPY)
                yield Row.create(name, f"export of {turns.count:,} reviews, rows/s", figures, [bound])
        connection.close()


def limit_rounds(run: Run) -> Run:
    """The same in fewer rounds: one of these takes as long as all rounds of a read."""
    return replace(run, rounds=min(run.rounds, MAX_ROUNDS))


@dataclass
class Turns:
    """The rounds of a format."""

    format: str
    last: "Export | None" = None
    count: int = 0

    def export(self) -> Figure:
        """A round of ours; of the first one the files are read again. Raises WrongAnswer."""
        self.forget()
        try:
            self.last, seconds = run_export("reviews", self.format, max_s=MAX_S)
        except BenchmarkFailed as error:
            raise WrongAnswer(str(error)) from error
        if not self.count:
            self.count = count_rows(self.last)
        elif self.last.rows != self.count:
            raise WrongAnswer(f"{self.format}: {self.last.rows} rows, and {self.count} before")
        return Figure(per_second=self.count / seconds, p50_ms=1000 * seconds)

    def copy(self) -> Figure:
        """A round of COPY."""
        if self.last is None:
            raise WrongAnswer("exports: there is nothing to be copied yet.")
        seconds = time_copy(self.last)
        return Figure(per_second=self.count / seconds, p50_ms=1000 * seconds)

    def forget(self) -> None:
        """Have the files of the last one removed."""
        from django.utils import timezone

        from catalogue.exports.requests import commands

        if self.last is not None:
            commands.cancel_export(self.last, actor="system", now=timezone.now())
            self.last = None


def count_rows(export: "Export") -> int:
    """How many rows its files hold. Raises WrongAnswer where that is not what is said of them, or what there is."""
    from django.db import connection

    from catalogue.exports.storage import files

    found = 0
    for part in export.parts.filter(kind="rows"):
        with files.storage().open(files.path_of(export, part)) as file:
            if export.format == "parquet":
                found += parquet.ParquetFile(file).metadata.num_rows
            else:
                found += count_lines(iter(partial(file.read, CHUNK_BYTES), b""))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM catalogue_review")
        ((there,),) = cursor.fetchall()
    if not found == export.rows <= there:
        raise WrongAnswer(f"{export}: {found} rows in its files, {export.rows} by its word, {there} in the table")
    return found


def count_lines(pieces: Iterator[bytes]) -> int:
    """How many lines a gzip file of one or several members holds."""
    reader, found = zlib.decompressobj(zlib.MAX_WBITS | 16), 0
    for piece in pieces:
        rest = piece
        while rest:
            found += reader.decompress(rest).count(b"\n")
            rest = reader.unused_data
            if reader.eof:
                reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    return found
