"""The geometry of bar charts."""

from decimal import Decimal

import pytest

from framework.charts import Column, GridLine, Layout, bar_chart, round_step

LAYOUT = Layout(width=640, height=180, left=40, top=8, bottom=22, max_labels=2)


def test_parts_are_stacked_within_the_chart() -> None:
    columns = [Column("a: 100", "a", [("a", 50), ("c", 30), ("b", 20)]), Column("b: 0", "b", [])]
    chart = bar_chart(columns, LAYOUT, whole_numbers=True)
    first, second = chart.bars
    assert [(part.style, part.y, part.height) for part in first.parts] == [("a", 83, 75), ("c", 38, 45), ("b", 8, 30)]
    assert (first.x, first.width, first.middle, first.text, first.label) == (70, 240, 190, "a: 100", "a")
    assert (second.parts, second.middle) == ([], 490)
    assert chart.grid == [GridLine(158, "0"), GridLine(83, "50"), GridLine(8, "100")]
    assert (chart.right, chart.label_y) == (640, 173)


def test_as_many_labels_are_written_as_fit() -> None:
    columns = [Column("", str(number), [("a", Decimal("0.5"))]) for number in range(5)]
    assert [bar.label for bar in bar_chart(columns, LAYOUT).bars] == ["0", "", "", "3", ""]


def test_a_chart_of_nothing_has_a_grid() -> None:
    assert bar_chart([], LAYOUT).bars == []
    assert [line.label for line in bar_chart([], LAYOUT).grid] == ["0", "0.002", "0.004"]


@pytest.mark.parametrize(
    ("highest", "step"), [("0", "0.001"), ("0.008", "0.002"), ("9", "2.5"), ("11", "3"), ("41", "15"), ("100", "25")]
)
def test_the_grid_ends_at_a_round_value_above_the_highest_bar(highest: str, step: str) -> None:
    assert round_step(Decimal(highest)) == Decimal(step)


def test_grids_of_whole_numbers_have_whole_halves() -> None:
    tops = [4 * round_step(Decimal(number), whole_numbers=True) for number in (0, 1, 4, 5, 11, 101, 401)]
    assert tops == [4, 4, 4, 6, 12, 120, 600]
