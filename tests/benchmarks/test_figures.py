"""The benchmark judges itself: what passes, what fails, and what it says of both."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from benchmarks import report
from benchmarks.figures import OURS, Bound, Figure, Row, Verdict, failed_gates, failed_goals, median_figure

PEER = "FastAPI"


def row(ours: float, theirs: float | None, *bounds: Bound) -> Row:
    """A row with these requests a second."""
    figures = {OURS: Figure(per_second=ours, cpu_ms=0.5)}
    if theirs is not None:
        figures[PEER] = Figure(per_second=theirs)
    return Row.create("record", "GET /", figures, bounds)


def output(rows: list[Row]) -> tuple[bool, str]:
    """What `--check` decides, and its words."""
    out = Console(file=io.StringIO(), width=200)
    passes = report.print_verdicts(out, rows)
    assert isinstance(out.file, io.StringIO)
    return passes, out.file.getvalue()


def test_a_missed_gate_fails_the_check_and_is_named() -> None:
    passes, words = output([row(650, 1000, Bound(of=PEER, gate=0.7, goal=1.0))])
    assert not passes
    assert words == "missed: record, FastAPI: 0.65 x (gate >= 0.7, goal >= 1)\n"


def test_a_goal_that_is_not_reached_is_listed_and_fails_nothing() -> None:
    passes, words = output([row(700, 1000, Bound(of=PEER, gate=0.7, goal=1.0))])
    assert passes
    assert words.splitlines() == [
        "not reached yet: record, FastAPI: 0.7 x (gate >= 0.7, goal >= 1)",
        "Every gate is passed; 1 goals are not reached yet.",
    ]


def test_a_goal_that_is_reached_is_listed_nowhere() -> None:
    rows = [row(1000, 1000, Bound(of=PEER, gate=0.7, goal=1.0))]
    assert (failed_gates(rows), failed_goals(rows)) == ([], [])


def test_what_was_not_measured_fails_nothing_and_is_not_called_reached() -> None:
    [verdict] = failed_goals([row(1000, None, Bound(of=PEER, gate=0.7, goal=1.0))])
    assert verdict.value is None
    assert str(verdict) == "record, FastAPI: not measured (gate >= 0.7, goal >= 1)"
    assert failed_gates([row(1000, None, Bound(of=PEER, gate=0.7))]) == []


@pytest.mark.parametrize(("value", "misses"), [(140.0, False), (140.1, True)])
def test_upper_bound_is_missed_from_above(value: float, misses: bool) -> None:
    verdict = Verdict(row="memory", of="web worker", value=value, gate=140, is_maximum=True, unit="MB")
    assert verdict.is_below_gate is misses


def test_the_cpu_time_of_ours_is_judged_without_a_reference() -> None:
    [verdict] = row(1000, None, Bound(of="CPU of a request", goal=0.31, is_cpu=True)).verdicts
    assert (verdict.value, verdict.is_below_gate, verdict.is_below_goal) == (0.5, False, True)


def test_median_of_the_rounds_is_reported_for_each_figure() -> None:
    rounds = [Figure(per_second=value, p99_ms=10 - value) for value in (1.0, 9.0, 5.0)]
    assert median_figure(rounds) == Figure(per_second=5.0, p99_ms=5.0)


def test_rows_of_other_concurrencies_are_printed_and_not_checked() -> None:
    judged = row(1, 1000, Bound(of=PEER, gate=0.7))
    other = judged.at(64)
    assert (other.name, other.verdicts, other.figures) == ("record at 64", (), judged.figures)
    assert judged == replace(judged)


def test_json_holds_figures_verdicts_machine_and_settings() -> None:
    found = report.to_json(
        [row(700, 1000, Bound(of=PEER, gate=0.7, goal=1.0))], machine={"cores": 2}, settings={"load": {"seconds": 4}}
    )
    assert found["machine"] == {"cores": 2}
    assert found["settings"] == {"load": {"seconds": 4}}
    [only] = found["rows"]
    assert only["figures"][OURS]["per_second"] == 700
    assert only["verdicts"] == [
        {
            "row": "record",
            "of": PEER,
            "value": 0.7,
            "gate": 0.7,
            "goal": 1.0,
            "is_maximum": False,
            "unit": "x",
            "is_below_gate": False,
            "is_below_goal": True,
        }
    ]


def test_the_table_shows_a_ratio_beside_its_reference() -> None:
    out = Console(file=io.StringIO(), width=160)
    out.print(report.table([row(700, 1000, Bound(of=PEER, gate=0.7, goal=1.0))]))
    assert isinstance(out.file, io.StringIO)
    [line] = [line for line in out.file.getvalue().splitlines() if PEER in line]
    assert [cell.strip() for cell in line.split("│")[1:-1]] == [
        *(PEER, "1,000", "", "", "", "", ""),
        *("0.70 x", "0.7", "1"),
    ]
