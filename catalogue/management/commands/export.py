"""`manage.py export`: export a dataset to files, written by this process and optional others."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from catalogue.exports.datasets import GROUPS
from catalogue.exports.downloads import signed_urls
from catalogue.exports.jobs import shared_snapshot, worker
from catalogue.exports.requests import commands, representation
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNDER_WAY
from catalogue.serializers.exports import ExportRecord, NewExport
from catalogue.tasks import enqueue_export_step
from framework.api.error_handler import flatten_detail
from framework.api.renderers import JSONRenderer
from framework.cli.progress import progress_bars
from framework.errors import ApiError, ServiceUnavailable
from payments.interface import FREE

POLL_INTERVAL_S = 0.25
# While workers hold all parts, or after an error.
RETRY_DELAY_S = 0.3
# From one part to the next the snapshot stays open; each part is a step, so that a stop takes effect soon.
KEEP_SNAPSHOT_S = 30
# Without a terminal.
LINE_INTERVAL_S = 5.0
# A process that is stopped writes its current part to the end within this time, or is killed.
STOP_TIMEOUT_S = 60
# More processes would only wait for the database.
MAX_WORKERS = 4 * (os.cpu_count() or 1)
INTERRUPTED = 130
FAILED = 3
FILTERS = ("market", "status", "updated_since")


class ChecksumMismatch(ServiceUnavailable):
    """The content of a file differs from its recorded checksum."""


@dataclass(frozen=True, slots=True)
class Progress:
    """An export of which about `rows` are written; the total is in `export.rows_total` once it is known."""

    export: Export
    rows: int


@dataclass
class Run:
    initial: Progress
    started_at: float = field(default_factory=time.monotonic)
    stop: Event = field(default_factory=Event)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started_at

    def pace(self, progress: Progress) -> float:
        """Rows per second since the start of the command."""
        return (progress.rows - self.initial.rows) / self.seconds if self.seconds else 0.0


class Command(BaseCommand):
    help = "Write a dataset to files. The same command again goes on with what it left (docs/exports.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", nargs="?", choices=Export.Dataset.values, help="what is exported")
        parser.add_argument("--format", choices=Export.Format.values, help="how (default jsonl.gz)")
        parser.add_argument("--market", help="of this market alone: its slug")
        parser.add_argument("--status", help="of restaurants of this status alone")
        parser.add_argument("--updated-since", metavar="MOMENT", help="changed then or later: 2026-11-21T19:30:00Z")
        parser.add_argument("--fields", metavar="GROUP,...", help="field groups of restaurants (default core)")
        parser.add_argument("--since", metavar="ex_...", help="only what has changed since this export of staff")
        parser.add_argument("--resume", metavar="ex_...", help="go on with this export, whoever has ordered it")
        parser.add_argument("--to", type=Path, metavar="DIR", help="copy the files and manifest.json there")
        parser.add_argument(
            "--workers", type=parse_workers, default=1, metavar="N", help="processes that write (default 1)"
        )
        parser.add_argument(
            "--wait", action="store_true", help="write nothing here: leave it to the workers that run, and wait"
        )
        parser.add_argument("--json", action="store_true", help="print one object of JSON, and no progress")
        # The parent of a process that this command has started.
        parser.add_argument("--beside", type=int, help=argparse.SUPPRESS)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["to"] is not None:
            try:
                options["to"].mkdir(parents=True, exist_ok=True)
                # It has to be writable.
                with TemporaryFile(dir=options["to"]):
                    pass
            except OSError as error:
                raise CommandError(f"--to {options['to']}: {error.strerror}.") from error
        export = self.find_or_create_export(options)
        run = Run(initial=read_progress(export))
        if options["beside"]:
            # Ctrl-C reaches all processes of the terminal; the parent decides when this one stops.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda *_: run.stop.set())
            parent = options["beside"]
            run_export(export, is_stopped=lambda: run.stop.is_set() or os.getppid() != parent)
            return
        with ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, lambda *_: run.stop.set()))
            if options["wait"]:
                enqueue_export_step(export)
            else:
                stack.enter_context(self.write_in_thread(export, run))
                stack.enter_context(start_processes(export, options["workers"] - 1, is_stopped=run.stop.is_set))
            final = self.follow(export, run, quiet=options["json"])
        self.finish(final, run, options)

    def find_or_create_export(self, options: dict[str, Any]) -> Export:
        """Return the export to resume, or find or create the ordered one."""
        options_set = [
            name for name in ("dataset", "format", *FILTERS, "fields", "since") if options[name] is not None
        ]
        if options["resume"]:
            if options_set:
                raise CommandError(f"--resume goes on with an export as it is: leave {', '.join(options_set)} out.")
            export = Export.objects.known_as(options["resume"]).first()
            if export is None:
                raise CommandError(f"There is no export {options['resume']}.")
            return export
        if options["dataset"] is None:
            raise CommandError(f"Say what is to be exported: {', '.join(Export.Dataset.values)}; or --resume ex_...")
        fields = None if options["fields"] is None else [name for name in options["fields"].split(",") if name]
        if fields == []:
            groups = ", ".join(GROUPS[Export.Dataset.RESTAURANTS])
            raise CommandError(f"fields: Name at least one field group: {groups}.")
        body = {
            "dataset": options["dataset"],
            "format": options["format"],
            "filter": {name: options[name] for name in FILTERS if options[name] is not None},
            "fields": fields,
            "since_export": options["since"],
        }
        order = NewExport(data={name: value for name, value in body.items() if value is not None})
        if not order.is_valid():
            raise CommandError("\n".join(f"{each.param}: {each.message}" for each in flatten_detail(order.errors)))
        try:
            return commands.create_export(None, tier=FREE, now=timezone.now(), **order.validated_data)
        except ApiError as refusal:
            raise CommandError(
                f"{refusal.param}: {refusal.message}" if refusal.param else refusal.message
            ) from refusal

    @contextmanager
    def write_in_thread(self, export: Export, run: Run) -> Iterator[None]:
        """Write in a thread; its exception is raised here."""

        def write() -> None:
            try:
                run_export(Export.objects.get(pk=export.pk), is_stopped=run.stop.is_set)
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as threads:
            writing: Future[None] = threads.submit(write)
            # The progress is not shown any more when the thread has failed.
            writing.add_done_callback(lambda done: run.stop.set() if done.exception() else None)
            try:
                yield
            finally:
                run.stop.set()
            writing.result()

    def follow(self, export: Export, run: Run, *, quiet: bool) -> Progress:
        """Show progress until the export has ended or a signal arrives; return the final progress."""
        with self.show_progress(run, quiet=quiet) as show:
            while (progress := read_progress(export)).export.status in UNDER_WAY and not run.stop.is_set():
                show(progress)
                run.stop.wait(POLL_INTERVAL_S)
            show(progress)
        return progress

    @contextmanager
    def show_progress(self, run: Run, *, quiet: bool) -> Iterator[Any]:
        """Show a bar; without a terminal, a line every few seconds."""
        last_line_at = time.monotonic()

        def line(progress: Progress) -> None:
            nonlocal last_line_at
            if not quiet and time.monotonic() - last_line_at >= LINE_INTERVAL_S:
                last_line_at = time.monotonic()
                self.stderr.write(self.describe(progress, run))

        if quiet:
            yield line
            return
        with progress_bars(self.stderr) as bars:
            yield (
                (
                    lambda progress: bars(
                        "rows", progress.rows, progress.export.rows_total, text=self.describe(progress, run)
                    )
                )
                if bars
                else line
            )

    def describe(self, progress: Progress, run: Run) -> str:
        if progress.export.rows_total is None:
            return f"{progress.export.public_id} is {progress.export.status}"
        error = f" ({progress.export.error})" if progress.export.error else ""
        return f"{progress.rows:,} of {progress.export.rows_total:,} rows, {run.pace(progress):,.0f} rows/s{error}"

    def finish(self, final: Progress, run: Run, options: dict[str, Any]) -> None:
        """Copy the files and print the result; a failure sets the exit code."""
        export, now = final.export, timezone.now()
        if export.status in UNDER_WAY:
            self.offer_cancellation(export)
        if export.status != Export.Status.SUCCEEDED:
            reason = export.error or "it has no files"
            raise CommandError(f"Export {export.public_id} is {export.status}: {reason}", returncode=FAILED)
        paths: list[Path] = []
        if options["to"] is not None:
            try:
                paths = copy_files(export, options["to"], now=now)
            except ApiError as refusal:
                raise CommandError(refusal.message, returncode=FAILED) from refusal
            except OSError as error:
                raise CommandError(
                    f"{options['to']}: {error.strerror}. The export has succeeded:"
                    f" `manage.py export --resume {export.public_id} --to DIR` copies its files.",
                    returncode=FAILED,
                ) from error
        details = representation.represent_export(export, now=now)
        size = sum(file.bytes for file in details.files)
        pace = round(run.pace(final))
        if options["json"]:
            record = orjson.loads(JSONRenderer().render(ExportRecord(details).data))
            record |= {"seconds": round(run.seconds, 3), "rows_per_second": pace, "paths": list(map(str, paths))}
            self.stdout.write(json.dumps(record))
            return
        removed = f", {details.removed} removed ids" if details.since_export else ""
        self.stdout.write(
            f"{export.public_id}: {len(details.files)} files, {export.rows:,} rows{removed}, {size / 1e6:.1f} MB"
            f" in {run.seconds:.1f} s ({pace:,} rows/s)"
        )
        if paths:
            self.stdout.write(f"Copied and verified: {len(paths)} files in {options['to']}")
        else:
            self.stdout.write(f"`manage.py export --resume {export.public_id} --to DIR` copies them.")

    def offer_cancellation(self, export: Export) -> None:
        """Offer to cancel the export on a terminal. Always raises CommandError."""
        if sys.stdin.isatty() and sys.stderr.isatty():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.stderr.write("Cancel the export, and remove what is written of it? [y/N] ", ending="")
            if sys.stdin.readline().strip().lower() in ("y", "yes"):
                commands.cancel_export(export, actor="system", now=timezone.now())
                raise CommandError(f"Export {export.public_id} is cancelled.", returncode=INTERRUPTED)
        raise CommandError(
            f"Stopped. `manage.py export --resume {export.public_id}` goes on where it was; workers that run do so by"
            " themselves. The back office cancels it.",
            returncode=INTERRUPTED,
        )


def run_export(export: Export, *, is_stopped: Callable[[], bool]) -> None:
    """Do the steps of an export until it has ended or `is_stopped` between two parts.

    Any number of processes may. Errors are recorded on the export's row.
    """
    try:
        while not is_stopped():
            export.refresh_from_db()
            if export.status not in UNDER_WAY:
                return
            if not worker.run_step(export, max_step_s=0, keep_snapshot_s=KEEP_SNAPSHOT_S):
                time.sleep(RETRY_DELAY_S)
    finally:
        shared_snapshot.release(export)


def read_progress(export: Export) -> Progress:
    """Return the progress of an export. Two queries."""
    fresh = Export.objects.get(pk=export.pk)
    written = fresh.parts.filter(kind=ExportPart.Kind.ROWS).aggregate(rows=Sum("rows"))["rows"]
    return Progress(fresh, written or 0)


def copy_files(export: Export, folder: Path, *, now: datetime) -> list[Path]:
    """Copy all missing files and then the manifest to a prepared folder; return the paths of all.

    Raises FilesNotReady, FilesGone, FileLost, ChecksumMismatch, and OSError of the folder.
    """
    names = [file.name for file in representation.represent_export(export, now=now).files]
    return [
        _copy_file(signed_urls.find_file(export, name, now=now), folder / name) for name in (*names, manifest.NAME)
    ]


def _copy_file(stored: signed_urls.StoredFile, path: Path) -> Path:
    if path.is_file() and manifest.digest(path.read_bytes()) == stored.sha256:
        return path
    content = stored.read()
    if manifest.digest(content) != stored.sha256:
        raise ChecksumMismatch(f"{path.name} has another checksum than when it was written: order the export again.")
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def parse_workers(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MAX_WORKERS}: four for each processor")
    return number


@contextmanager
def start_processes(export: Export, number: int, *, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Start further processes that write the same export, fewer if `is_stopped`; they are terminated at the end.

    They are new processes, so that they share no connection.
    """
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "export", "--resume", export.public_id]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        while len(processes) < number and not is_stopped():
            processes.append(
                subprocess.Popen(  # noqa: S603  # our own program
                    [*command, "--beside", str(os.getpid())],
                    cwd=settings.BASE_DIR,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            )
        yield
    finally:
        for process in processes:
            process.terminate()
        until = time.monotonic() + STOP_TIMEOUT_S
        for process in processes:
            try:
                process.wait(max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                # Its part is free again when the lease expires.
                process.kill()
                process.wait()
