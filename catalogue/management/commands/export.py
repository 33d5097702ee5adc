"""`manage.py export`: a whole dataset into files, written by this process and others beside it."""

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
from pathlib import Path
from threading import Event
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from catalogue.exports.datasets import GROUPS
from catalogue.exports.downloads import copy_to_folder
from catalogue.exports.jobs import foreground
from catalogue.exports.jobs.foreground import Look
from catalogue.exports.requests import commands, representation
from catalogue.models import Export
from catalogue.models.exports import UNDER_WAY
from catalogue.serializers import ExportRecord, NewExport
from catalogue.tasks import enqueue_export_step
from framework.api.error_handler import flatten_detail
from framework.api.renderers import JSONRenderer
from framework.cli.progress import progress_bars
from framework.errors import ApiError
from payments.tiers.definitions import FREE

LOOK_S = 0.25
# Where nobody looks at a terminal.
LINE_EVERY_S = 5.0
# A worker that is told to stop has written its part by then, or ends without.
PATIENCE_S = 60
# More of them only wait for each other, and for the database.
MOST_WORKERS = 4 * (os.cpu_count() or 1)
INTERRUPTED = 130
FAILED = 3
FILTERS = {"market": "market", "status": "status", "updated_since": "updated_since"}


@dataclass
class Run:
    """One run of the command: when it began, with how many rows, and whether it is to stop."""

    first: Look
    begun: float = field(default_factory=time.monotonic)
    stop: Event = field(default_factory=Event)

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.begun

    def pace(self, look: Look) -> float:
        """Rows a second, of those that were written since it began."""
        return (look.rows - self.first.rows) / self.seconds if self.seconds else 0.0


class Command(BaseCommand):
    """Order an export of one's own, work on it, copy its files."""

    help = "Write a dataset to files. The same command again goes on with what it left (docs/exports.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name the flags."""
        parser.add_argument("dataset", nargs="?", choices=Export.Dataset.values, help="what is exported")
        parser.add_argument("--format", choices=Export.Format.values, help="how (default jsonl.gz)")
        parser.add_argument("--market", help="of this market alone: its slug")
        parser.add_argument("--status", help="of restaurants of this status alone")
        parser.add_argument("--updated-since", metavar="MOMENT", help="changed then or later: 2026-11-21T19:30:00Z")
        parser.add_argument("--fields", metavar="GROUP,...", help="field groups of restaurants (default core)")
        parser.add_argument("--since", metavar="ex_...", help="only what has changed since this export of staff")
        parser.add_argument("--resume", metavar="ex_...", help="go on with this export, whoever has ordered it")
        parser.add_argument("--to", type=Path, metavar="DIR", help="copy the files and manifest.json there")
        parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes that write (default 1)")
        parser.add_argument(
            "--wait", action="store_true", help="write nothing here: leave it to the workers that run, and wait"
        )
        parser.add_argument("--json", action="store_true", help="print one object of JSON, and no progress")
        # A process that this command has begun, and whose.
        parser.add_argument("--beside", type=int, help=argparse.SUPPRESS)

    def handle(self, *_: Any, **options: Any) -> None:
        """Until the export has ended, or a signal says that it is enough."""
        if options["to"] is not None:
            try:
                copy_to_folder.prepare(options["to"])
            except OSError as error:
                raise CommandError(f"--to {options['to']}: {error.strerror}.") from error
        export = self.found(options)
        run = Run(first=foreground.look(export))
        if options["beside"]:
            # Ctrl-C in a terminal reaches all processes: when this one ends is said by the one that has begun it.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda *_: run.stop.set())
            parent = options["beside"]
            foreground.work(export, is_stopped=lambda: run.stop.is_set() or os.getppid() != parent)
            return
        with ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, lambda *_: run.stop.set()))
            if options["wait"]:
                enqueue_export_step(export)
            else:
                stack.enter_context(self.written_here(export, run))
                stack.enter_context(others(export, options["workers"] - 1, is_stopped=run.stop.is_set))
            last = self.followed(export, run, quiet=options["json"])
        self.end(last, run, options)

    def found(self, options: dict[str, Any]) -> Export:
        """The export to go on with, or the one that is wanted, made unless staff have it under way."""
        chosen = [name for name in ("dataset", "format", *FILTERS, "fields", "since") if options[name] is not None]
        if options["resume"]:
            if chosen:
                raise CommandError(f"--resume goes on with an export as it is: leave {', '.join(chosen)} out.")
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
            "filter": {name: options[flag] for name, flag in FILTERS.items() if options[flag] is not None},
            "fields": fields,
            "since_export": options["since"],
        }
        asked = NewExport(data={name: value for name, value in body.items() if value is not None})
        if not asked.is_valid():
            raise CommandError("\n".join(f"{each.param}: {each.message}" for each in flatten_detail(asked.errors)))
        try:
            return commands.start(None, tier=FREE, now=timezone.now(), **asked.validated_data)
        except ApiError as refusal:
            raise CommandError(
                f"{refusal.param}: {refusal.message}" if refusal.param else refusal.message
            ) from refusal

    @contextmanager
    def written_here(self, export: Export, run: Run) -> Iterator[None]:
        """A thread that writes, while this one looks on. What it raises is raised here."""

        def write() -> None:
            try:
                foreground.work(Export.objects.get(pk=export.pk), is_stopped=run.stop.is_set)
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as threads:
            writing: Future[None] = threads.submit(write)
            # Who looks on does so no longer than there is somebody who writes.
            writing.add_done_callback(lambda done: run.stop.set() if done.exception() else None)
            try:
                yield
            finally:
                run.stop.set()
            writing.result()

    def followed(self, export: Export, run: Run, *, quiet: bool) -> Look:
        """The last look at an export that has ended, or at the moment of a signal."""
        with self.progress(run, quiet=quiet) as show:
            while (look := foreground.look(export)).export.status in UNDER_WAY and not run.stop.is_set():
                show(look)
                run.stop.wait(LOOK_S)
            show(look)
        return look

    @contextmanager
    def progress(self, run: Run, *, quiet: bool) -> Iterator[Any]:
        """A bar; without a terminal, a line every few seconds."""
        told = time.monotonic()

        def line(look: Look) -> None:
            nonlocal told
            if not quiet and time.monotonic() - told >= LINE_EVERY_S:
                told = time.monotonic()
                self.stderr.write(self.words(look, run))

        if quiet:
            yield line
            return
        with progress_bars(self.stderr) as bars:
            yield (lambda look: bars("rows", look.rows, look.total, text=self.words(look, run))) if bars else line

    def words(self, look: Look, run: Run) -> str:
        """How far it is, in words."""
        if look.total is None:
            return f"{look.export.public_id} is {look.export.status}"
        trouble = f" ({look.export.error})" if look.export.error else ""
        return f"{look.rows:,} of {look.total:,} rows, {run.pace(look):,.0f} rows/s{trouble}"

    def end(self, last: Look, run: Run, options: dict[str, Any]) -> None:
        """Copy, and say what came of it; where it came to nothing, by the exit code too."""
        export, now = last.export, timezone.now()
        if export.status in UNDER_WAY:
            self.interrupted(export)
        if export.status != Export.Status.SUCCEEDED:
            why = export.error or "it has no files"
            raise CommandError(f"Export {export.public_id} is {export.status}: {why}", returncode=FAILED)
        paths: list[Path] = []
        if options["to"] is not None:
            try:
                paths = copy_to_folder.take(export, options["to"], now=now)
            except ApiError as refusal:
                raise CommandError(refusal.message, returncode=FAILED) from refusal
            except OSError as error:
                raise CommandError(
                    f"{options['to']}: {error.strerror}. The export has succeeded:"
                    f" `manage.py export --resume {export.public_id} --to DIR` copies its files.",
                    returncode=FAILED,
                ) from error
        shown = representation.show(export, now=now)
        size = sum(file.bytes for file in shown.files)
        pace = round(run.pace(last))
        if options["json"]:
            told = orjson.loads(JSONRenderer().render(ExportRecord(shown).data))
            told |= {"seconds": round(run.seconds, 3), "rows_per_second": pace, "paths": list(map(str, paths))}
            self.stdout.write(json.dumps(told))
            return
        gone = f", {shown.removed} removed ids" if shown.since_export else ""
        self.stdout.write(
            f"{export.public_id}: {len(shown.files)} files, {export.rows:,} rows{gone}, {size / 1e6:.1f} MB"
            f" in {run.seconds:.1f} s ({pace:,} rows/s)"
        )
        if paths:
            self.stdout.write(f"Copied and verified: {len(paths)} files in {options['to']}")
        else:
            self.stdout.write(f"`manage.py export --resume {export.public_id} --to DIR` copies them.")

    def interrupted(self, export: Export) -> None:
        """Ask what is to become of it, where somebody is there to say. Always raises CommandError."""
        if sys.stdin.isatty() and sys.stderr.isatty():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.stderr.write("Cancel the export, and remove what is written of it? [y/N] ", ending="")
            if sys.stdin.readline().strip().lower() in ("y", "yes"):
                commands.cancel(export, actor="system", now=timezone.now())
                raise CommandError(f"Export {export.public_id} is cancelled.", returncode=INTERRUPTED)
        raise CommandError(
            f"Stopped. `manage.py export --resume {export.public_id}` goes on where it was; workers that run do so by"
            " themselves. The back office cancels it.",
            returncode=INTERRUPTED,
        )


def workers(text: str) -> int:
    """Read how many processes are to write."""
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"must be from 1 to {MOST_WORKERS}: four for each processor")
    return number


@contextmanager
def others(export: Export, number: int, *, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """So many processes that work on an export too, fewer when one is told to stop meanwhile; they end with this one.

    They begin from nothing, so they have no connection of ours.
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
        until = time.monotonic() + PATIENCE_S
        for process in processes:
            try:
                process.wait(max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                # What it held is free again when its lease runs out.
                process.kill()
                process.wait()
