"""What a run is doing: a bar and its steps on a terminal, and lines with the time so far in a log.

Both get a line when a suite begins, for each row when it is measured, and when the suite ends.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.figures import OURS, Row

# Between two lines about steps in a log.
LINE_INTERVAL_S = 30.0


class RunProgress:
    """The progress of a run of about `steps` steps. Without a bar, steps are written as lines."""

    def __init__(self, console: Console, bar: Progress | None, *, steps: int) -> None:
        self.console = console
        self.bar = bar
        self.task = bar.add_task("", total=steps) if bar else None
        self.steps = steps
        self.done = 0
        self.started_at = self.line_at = self.row_at = time.monotonic()

    def step(self, text: str) -> None:
        """Begin a step."""
        if self.bar and self.task is not None:
            self.bar.update(self.task, completed=self.done, description=f"{text}, {self.remaining()}")
        elif time.monotonic() - self.line_at >= LINE_INTERVAL_S:
            self.say(f"step {self.done + 1} of {self.steps}: {text}, {self.remaining()}")
        self.done += 1

    def remaining(self) -> str:
        """An estimate, as if the remaining steps take as long as those before."""
        left_s = (time.monotonic() - self.started_at) / self.done * max(self.steps - self.done, 0) if self.done else 0
        return f"about {format_duration(left_s)} left" if left_s else "time left unknown"

    @contextmanager
    def suite(self, name: str, number: int, count: int, rows: list[str]) -> Iterator[None]:
        """Say that a suite begins, and how long it took."""
        started = self.row_at = time.monotonic()
        self.say(f"{name} ({number} of {count}) begins: {', '.join(rows)}")
        yield
        self.say(f"{name} took {format_duration(time.monotonic() - started)}")

    def row(self, row: Row) -> None:
        """Say what was measured, and how long it took since the row before."""
        now = time.monotonic()
        self.say(f"  {describe_row(row)}, in {format_duration(now - self.row_at)}")
        self.row_at = now

    def say(self, text: str) -> None:
        self.line_at = time.monotonic()
        elapsed = format_duration(self.line_at - self.started_at)
        self.console.print(f"{elapsed:>8}  {text}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def show_run(console: Console, *, steps: int) -> Iterator[RunProgress]:
    """Show the progress of a run on this console."""
    if not console.is_terminal:
        yield RunProgress(console, None, steps=steps)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield RunProgress(console, bar, steps=steps)


def describe_row(row: Row) -> str:
    """The row's verdicts, each as passed or missed; of a row without, our requests a second."""
    if row.verdicts:
        verdicts = (f"{'MISSED' if one.is_below_gate else 'passed'} {one}" for one in row.verdicts)
        return "; ".join(verdicts)
    ours = row.figures.get(OURS)
    per_second = ours.per_second if ours else None
    return f"{row.name}: measured" if per_second is None else f"{row.name}: {per_second:,.0f} requests/s"


def format_duration(seconds: float) -> str:
    """Hours, minutes and seconds: 0:02:05."""
    return str(timedelta(seconds=round(seconds)))
