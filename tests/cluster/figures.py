"""Figures that a test has measured, shown though it passes."""

import sys

import pytest


def tell(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Write a line past pytest to the terminal."""
    with capsys.disabled():
        sys.stdout.write(f"\n    {line}\n")
