"""Progress of a management command: bars on a terminal, and elsewhere a few lines for a log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

# Called after each step: the name of what is counted, how many are done, and how many there are.
OnProgress = Callable[[str, int, int], None]


class Bars(Protocol):
    """An OnProgress that draws a bar for each name. `text` is shown in place of the name; a total may be unknown."""

    def __call__(self, name: str, done: int, total: int | None, /, *, text: str = "") -> None: ...


def no_progress(name: str, done: int, total: int) -> None:
    """For callers that show no progress."""


@contextmanager
def progress_bars(stderr: OutputWrapper) -> Iterator[Bars | None]:
    """Bars on stderr, which vanish at the end; None where stderr is no terminal."""
    if not stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def draw(name: str, done: int, total: int | None, /, *, text: str = "") -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=None)
            progress.update(bars[name], description=text or name, completed=done, total=total)

        yield draw


@contextmanager
def show_progress(command: str, stderr: OutputWrapper) -> Iterator[OnProgress]:
    """Bars on a terminal; elsewhere a line for each tenth of each name."""
    tenths: dict[str, int] = {}

    def log(name: str, done: int, total: int) -> None:
        tenth = done * 10 // total if total else 10
        if tenth > tenths.get(name, 0):
            tenths[name] = tenth
            stderr.write(f"{command}: {done} of {total} {name}")

    with progress_bars(stderr) as bars:
        yield bars or log
