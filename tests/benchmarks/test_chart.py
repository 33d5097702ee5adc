"""The chart of a run."""

from xml.etree import ElementTree as ET

from benchmarks.chart import draw_chart
from benchmarks.figures import OURS, Figure, Row

SVG = "{http://www.w3.org/2000/svg}"


def chart() -> ET.Element:
    """Ours is half as fast as another, whose name needs care; pgbench is no server."""
    figures = {
        OURS: Figure(per_second=1500.4, memory_mb=100),
        "A & <B>": Figure(per_second=3000, memory_mb=80),
        "pgbench": Figure(per_second=90_000),
        "not measured": Figure(),
    }
    rows = [Row(name="record", what="GET /", figures=figures), Row(name="memory", what="", figures={OURS: Figure()})]
    return ET.fromstring(draw_chart(rows))  # noqa: S314  # our own


def test_bars_are_as_long_as_the_figures_and_named() -> None:
    ours, theirs = chart().findall(f"{SVG}rect")
    assert (ours.get("class"), theirs.get("class")) == ("ours", "theirs")
    assert int(theirs.get("width", "0")) == 2 * int(ours.get("width", "0"))
    words = [text.text for text in chart().findall(f"{SVG}text")]
    assert words == ["record, requests/s", "ours", "1,500", "A & <B>", "3,000"]


def test_chart_has_a_text_alternative() -> None:
    assert chart().get("aria-label") == "Requests a second: record ours 1,500, A & <B> 3,000"
    assert chart().get("role") == "img"


def test_nothing_leaves_its_400_pixels_and_dark_pages_are_thought_of() -> None:
    root = chart()
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert width == 400
    for bar in root.findall(f"{SVG}rect"):
        assert float(bar.get("x", "0")) + float(bar.get("width", "0")) <= width - 50
        assert float(bar.get("y", "0")) + float(bar.get("height", "0")) <= height
    style = root.find(f"{SVG}style")
    assert style is not None
    assert "prefers-color-scheme: dark" in (style.text or "")
    assert "currentColor" in (style.text or "")
