"""What a run of the benchmark says while it measures."""

import io
import time

import pytest
from rich.console import Console

from benchmarks import progress
from benchmarks.figures import OURS, Bound, Figure, Row
from benchmarks.progress import RunProgress, describe_row, format_duration, show_run


def row(*bounds: Bound) -> Row:
    figures = {OURS: Figure(per_second=1500.0), "FastAPI": Figure(per_second=500.0)}
    return Row.create("record", "GET /", figures, bounds)


def test_a_log_says_when_suites_begin_and_end_and_what_each_row_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    with show_run(Console(file=out, width=40), steps=4) as run:
        with run.suite("reads", 1, 2, ["record", "search"]):
            # No line: the one before is young.
            run.step("record: ours, round 1")
            monkeypatch.setattr(progress, "LINE_INTERVAL_S", 0.0)
            monkeypatch.setattr(run, "started_at", time.monotonic() - 30)
            run.step("record: FastAPI, round 1")
            run.row(row(Bound(of="FastAPI", gate=2)))
        run.say("  not measured: search")
    assert out.getvalue().splitlines() == [
        " 0:00:00  reads (1 of 2) begins: record, search",
        " 0:00:30  step 2 of 4: record: FastAPI, round 1, about 0:01:30 left",
        " 0:00:30    passed record, FastAPI: 3 x (gate >= 2), in 0:00:00",
        " 0:00:30  reads took 0:00:00",
        " 0:00:30    not measured: search",
    ]


def test_a_terminal_shows_a_bar_with_the_step_and_the_same_lines() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with show_run(console, steps=4) as run:
        assert run.bar
        with run.suite("reads", 1, 1, ["record"]):
            run.step("record: ours, round 1")
            run.step("record: ours, round 2")
            time.sleep(0.2)
    assert "record: ours, round 2" in out.getvalue()
    assert "1/4" in out.getvalue()
    assert "reads (1 of 1) begins: record" in out.getvalue()


def test_more_steps_than_expected_are_no_error() -> None:
    run = RunProgress(Console(file=io.StringIO()), None, steps=0)
    assert run.remaining() == "time left unknown"
    run.step("one")
    run.step("two")
    assert (run.done, run.remaining()) == (2, "time left unknown")


def test_rows_are_described_by_their_verdicts_or_by_their_speed() -> None:
    assert describe_row(row(Bound(of="FastAPI", gate=4))) == "MISSED record, FastAPI: 3 x (gate >= 4)"
    assert describe_row(row()) == "record: 1,500 requests/s"
    assert describe_row(Row(name="memory", what="", figures={})) == "memory: measured"


def test_durations_are_hours_minutes_and_seconds() -> None:
    assert [format_duration(seconds) for seconds in (0.4, 125, 3600)] == ["0:00:00", "0:02:05", "1:00:00"]
