"""CSV downloads."""

import csv
import io

import pytest

from framework.csv_export import csv_lines


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    written = "".join(csv_lines([[text, "plain", 5, None]]))
    assert list(csv.reader(io.StringIO(written, newline=""))) == [[f"'{text}", "plain", "5", ""]]


def test_each_row_is_a_line_of_its_own() -> None:
    assert list(csv_lines([["a", "b,c"], ['"', None]])) == ['a,"b,c"\r\n', '"""",\r\n']
