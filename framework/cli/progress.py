"""How far a command is: a bar on a terminal, and elsewhere a line for each tenth, so that a log stays short."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from catalogue.read_model.bulk_load import OnStep


@contextmanager
def shown(command: str, stderr: OutputWrapper) -> Iterator[OnStep]:
    """What to tell of each step; of several things at once, each has its own bar."""
    if stderr.isatty():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bars: dict[str, TaskID] = {}

            def draw(what: str, done: int, total: int) -> None:
                if what not in bars:
                    bars[what] = progress.add_task(what)
                progress.update(bars[what], completed=done, total=total)

            yield draw
        return
    tenths: dict[str, int] = {}

    def log(what: str, done: int, total: int) -> None:
        tenth = done * 10 // total if total else 10
        if tenth > tenths.get(what, 0):
            tenths[what] = tenth
            stderr.write(f"{command}: {done} of {total} {what}")

    yield log
