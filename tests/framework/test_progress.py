"""Progress of commands, on a terminal and in a log."""

import io
import sys
import time

import pytest
from django.core.management.base import OutputWrapper

from framework.cli import progress
from framework.cli.progress import progress_bars, show_progress, show_steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_for_each_tenth_of_each_name() -> None:
    out = io.StringIO()
    with show_progress("load", OutputWrapper(out)) as on_progress:
        for done in range(1, 41):
            on_progress("rows", done, 40)
        on_progress("pages", 0, 0)
    lines = out.getvalue().splitlines()
    assert lines[:2] == ["load: 4 of 40 rows", "load: 8 of 40 rows"]
    assert lines[-2:] == ["load: 40 of 40 rows", "load: 0 of 0 pages"]
    assert len(lines) == 11


def test_without_a_terminal_there_are_no_bars() -> None:
    with progress_bars(OutputWrapper(io.StringIO())) as bars:
        assert bars is None


def test_a_terminal_shows_a_bar_for_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bars(OutputWrapper(terminal)) as bars:
        assert bars
        bars("rows", 1, 4)
        bars("rows", 2, 4)
        bars("blocks", 0, None, text="no blocks yet")
    assert "rows" in terminal.getvalue()
    assert "50%" in terminal.getvalue()
    assert "no blocks yet" in terminal.getvalue()


def test_a_log_gets_a_line_for_steps_of_a_long_command(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    with show_steps("backup", OutputWrapper(out)) as report:
        report("pg_dump")
        assert out.getvalue() == ""
        monkeypatch.setattr(progress, "LINE_INTERVAL_S", 0.0)
        report("accounts_user")
        report("files")
    assert out.getvalue() == "backup: 0 s, accounts_user\nbackup: 0 s, files\n"


@pytest.mark.exhaustive
def test_a_terminal_shows_the_present_step(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with show_steps("restore", OutputWrapper(terminal)) as report:
        report("compare rows")
        time.sleep(0.3)
    assert "compare rows" in terminal.getvalue()
