"""Suites: each measures some rows. Another one is added to SUITES, and nothing else has to know it."""

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchmarks.figures import Figure, Row, median_figure
from benchmarks.load import Load
from benchmarks.product import Product


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a suite is given: the product that runs, how it is loaded, and the words of the command line.

    A suite calls `step` with a few words before each piece of work (a round of one contender is a good piece), and
    puts into `settings` what makes its references comparable: it is printed beside the table.
    """

    product: Product
    load: Load
    rounds: int
    arguments: Namespace
    step: Callable[[str], None]
    settings: dict[str, Any] = field(default_factory=dict)

    def run_in_turns(self, name: str, turns: Mapping[str, Callable[[], Figure]]) -> dict[str, Figure]:
        """The median of the rounds of each, who take turns, so that what slows the machine slows all."""
        taken: dict[str, list[Figure]] = {one: [] for one in turns}
        for number in range(1, self.rounds + 1):
            for one, turn in turns.items():
                self.step(f"{name}: {one}, round {number}")
                taken[one].append(turn())
        return {one: median_figure(figures) for one, figures in taken.items()}


class Suite(Protocol):
    """Some rows that are measured together."""

    name: str
    # The rows that it can measure, by which `--only` chooses.
    rows: tuple[str, ...]
    # Whether it is measured again with each number of connections.
    is_by_connections: bool

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """How many times `measure` calls `run.step`, about: for the progress bar."""
        ...

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """Measure those of its rows that are wanted. Raises WrongAnswer."""
        ...


def suites() -> Mapping[str, Suite]:
    """All of them by name, in the order in which they run; they import the product, whose settings must be known."""
    from benchmarks.admin_pages import Pages
    from benchmarks.export_rows import Exports
    from benchmarks.geography import Geography
    from benchmarks.growth import Growth
    from benchmarks.memory import Memory
    from benchmarks.orders import Orders
    from benchmarks.payment_and_mcp import PaymentAndMcp
    from benchmarks.rate_limit import RateLimit
    from benchmarks.reads import Reads

    found: list[Suite] = [
        Reads(),
        Orders(),
        PaymentAndMcp(),
        RateLimit(),
        Geography(),
        Memory(),
        Exports(),
        Pages(),
        Growth(),
    ]
    return {one.name: one for one in found}
