"""What a run has found: figures of contenders in rows, and how each ratio stands to its gate and its goal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import median
from typing import Any

OURS = "ours"


class WrongAnswer(Exception):
    """Something was not answered as it should be, so its figure would mean nothing."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """How one contender did; None stands for what cannot be said of it.

    `ms` are milliseconds of waiting, `cpu_ms` those of work a request: of the processes of the server, and of the
    backends of PostgreSQL that serve them. `memory_mb` is what its largest process holds in memory (RSS).
    """

    per_second: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_ms: float | None = None
    database_cpu_ms: float | None = None
    memory_mb: float | None = None
    note: str = ""


def median_figure(rounds: Sequence[Figure]) -> Figure:
    """The median of each figure, apart from one another."""
    found: dict[str, Any] = {}
    for field in fields(Figure):
        known = [value for one in rounds if (value := getattr(one, field.name)) is not None]
        if field.name == "note":
            found["note"] = next(filter(None, known), "")
        else:
            found[field.name] = median(known) if known else None
    return Figure(**found)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A value beside its bounds: what it has to be for `--check` to pass, and what is gone for.

    Either may be missing. The value is to be at least so much, at most where `is_maximum`; None where it could not be
    measured, which misses no gate but is told.
    """

    row: str
    of: str
    value: float | None
    gate: float | None = None
    goal: float | None = None
    is_maximum: bool = False
    unit: str = "x"

    @property
    def is_below_gate(self) -> bool:
        """Whether it makes `--check` fail."""
        return self._misses(self.gate)

    @property
    def is_below_goal(self) -> bool:
        """Whether it is not where it is to be in the end."""
        return self._misses(self.goal)

    def _misses(self, bound: float | None) -> bool:
        if bound is None or self.value is None:
            return False
        return self.value > bound if self.is_maximum else self.value < bound

    def __str__(self) -> str:
        sign = "<=" if self.is_maximum else ">="
        bounds = [f"{name} {sign} {bound:g}" for name, bound in (("gate", self.gate), ("goal", self.goal)) if bound]
        value = "not measured" if self.value is None else f"{self.value:.3g} {self.unit}".strip()
        return f"{self.row}, {self.of}: {value} ({', '.join(bounds)})"


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What is asked of a row: the requests a second of ours as a multiple of those of a reference, or its CPU time."""

    of: str
    gate: float | None = None
    goal: float | None = None
    is_cpu: bool = False

    def judge(self, row: str, figures: Mapping[str, Figure]) -> Verdict:
        """How these figures stand."""
        ours = figures[OURS]
        if self.is_cpu:
            spent = ours.cpu_ms
            return Verdict(
                row=row, of=self.of, value=spent, gate=self.gate, goal=self.goal, is_maximum=True, unit="ms"
            )
        theirs = figures.get(self.of)
        is_known = theirs is not None and theirs.per_second and ours.per_second is not None
        ratio = ours.per_second / theirs.per_second if is_known else None  # type: ignore[operator,union-attr]
        return Verdict(row=row, of=self.of, value=ratio, gate=self.gate, goal=self.goal)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that was measured: the figures by contender, `ours` among them, and the verdicts on them."""

    name: str
    what: str
    figures: Mapping[str, Figure]
    verdicts: tuple[Verdict, ...] = ()

    @classmethod
    def create(cls, name: str, what: str, figures: Mapping[str, Figure], bounds: Iterable[Bound]) -> "Row":
        """A row with a verdict for each bound."""
        return cls(
            name=name, what=what, figures=figures, verdicts=tuple(bound.judge(name, figures) for bound in bounds)
        )

    def at(self, connections: int) -> "Row":
        """The same with as many connections: told, not judged."""
        return replace(self, name=f"{self.name} at {connections}", verdicts=())

    def to_json(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "name": self.name,
            "what": self.what,
            "figures": {name: asdict(figure) for name, figure in self.figures.items()},
            "verdicts": [
                {**asdict(one), "is_below_gate": one.is_below_gate, "is_below_goal": one.is_below_goal}
                for one in self.verdicts
            ],
        }


def failed_gates(rows: Iterable[Row]) -> list[Verdict]:
    """What makes `--check` fail."""
    return [one for row in rows for one in row.verdicts if one.is_below_gate]


def failed_goals(rows: Iterable[Row]) -> list[Verdict]:
    """What is still to be done, and what could not be measured."""
    return [one for row in rows for one in row.verdicts if one.is_below_goal or one.value is None]
