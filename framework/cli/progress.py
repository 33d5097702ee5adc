"""Progress of a management command: bars on a terminal, and elsewhere a few lines for a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

# Between two lines about steps in a log.
LINE_INTERVAL_S = 5.0
# Called after each step: the name of what is counted, how many are done, and how many there are.
OnProgress = Callable[[str, int, int], None]


class Bars(Protocol):
    """An OnProgress that draws a bar for each name. `text` is shown in place of the name; a total may be unknown."""

    def __call__(self, name: str, done: int, total: int | None, /, *, text: str = "") -> None: ...


def no_progress(name: str, done: int, total: int) -> None:
    """For callers that show no progress."""


@contextmanager
def timed_step(console: Console, name: str) -> Iterator[None]:
    """Show a spinner during a step, on a terminal, and then how long it took."""
    started = time.monotonic()
    with console.status(name):
        yield
    console.print(f"{time.monotonic() - started:6.1f} s  {name}", markup=False, soft_wrap=True)


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


@contextmanager
def show_steps(command: str, stderr: OutputWrapper) -> Iterator[Callable[[str], None]]:
    """Call the result with the name of each step as it begins.

    A terminal shows it beside a spinner, which vanishes at the end. A log gets a line with the time so far, at most
    one in LINE_INTERVAL_S, and none of a command that is done before.
    """
    if stderr.isatty():
        with Console(stderr=True).status(command) as status:
            yield status.update
        return
    started = last = time.monotonic()

    def log(step: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_INTERVAL_S:
            last = now
            stderr.write(f"{command}: {now - started:.0f} s, {step}")

    yield log
