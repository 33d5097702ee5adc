"""What a run tells: a table of figures, the verdicts, and the same as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure, Row, Verdict, failed_gates, failed_goals


def to_json(rows: Sequence[Row], *, machine: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Everything, as it is written in JSON."""
    return {"machine": machine, "settings": settings, "rows": [row.to_json() for row in rows]}


def print_report(
    console: Console, rows: Sequence[Row], *, machine: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Print the machine, the figures, and what the references were set to."""
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, {machine['kernel']}, Python {machine['python']},"
        f" PostgreSQL {machine['postgresql']}; {machine['restaurants']:,} restaurants, {machine['reviews']:,} reviews;"
        f" commit {machine['commit']}, {machine['date']}",
        highlight=False,
    )
    console.print(table(rows))
    for name, output in settings.items():
        console.print(f"[bold]{name}[/]", output, highlight=False)


def table(rows: Sequence[Row]) -> Table:
    """The figures, row by row; the ratio is ours to theirs, with its gate and its goal."""
    found = Table("", "requests/s", "p50 ms", "p99 ms", "CPU ms", "database", "memory MB", "ours is", "gate", "goal")
    for column in found.columns[1:]:
        column.justify = "right"
    for row in rows:
        found.add_row(f"[bold]{row.name}[/] {row.what}")
        by = {verdict.of: verdict for verdict in row.verdicts}
        for name, figure in row.figures.items():
            verdict = by.pop(name, None)
            payload = format_verdict(verdict) if verdict else ("", "", "")
            found.add_row(f"  {name}", *format_figure(figure), *payload)
        for verdict in by.values():
            found.add_row(f"  {verdict.of}", *("" for _ in range(6)), *format_verdict(verdict))
        found.add_section()
    return found


def format_figure(figure: Figure) -> tuple[str, ...]:
    """The cells of a figure, empty where nothing can be said."""
    return (
        format_number(figure.per_second, 0),
        format_number(figure.p50_ms, 2),
        format_number(figure.p99_ms, 2),
        format_number(figure.cpu_ms, 3),
        format_number(figure.database_cpu_ms, 3),
        format_number(figure.memory_mb, 0),
    )


def format_verdict(verdict: Verdict) -> tuple[str, str, str]:
    """The cells of a verdict, coloured by how it stands."""
    colour = "red" if verdict.is_below_gate else "yellow" if verdict.is_below_goal else "green"
    value = "?" if verdict.value is None else f"{verdict.value:.2f} {verdict.unit}"
    sign = "<= " if verdict.is_maximum else ""
    limits = ("" if one is None else f"{sign}{one:g}" for one in (verdict.gate, verdict.goal))
    gate, goal = limits
    return f"[{colour}]{value}[/]", gate, goal


def format_number(value: float | None, digits: int) -> str:
    """A number for people."""
    return "" if value is None else f"{value:,.{digits}f}"


def print_verdicts(console: Console, rows: Sequence[Row]) -> bool:
    """Say which gates were missed and which goals are not reached; whether no gate was."""
    failed, open_goals = failed_gates(rows), failed_goals(rows)
    for verdict in failed:
        console.print(f"missed: {verdict}", style="red", markup=False, highlight=False)
    for verdict in open_goals:
        if verdict not in failed:
            console.print(f"not reached yet: {verdict}", style="yellow", markup=False, highlight=False)
    if not failed:
        console.print(f"Every gate is passed; {len(open_goals)} goals are not reached yet.", highlight=False)
    return not failed
