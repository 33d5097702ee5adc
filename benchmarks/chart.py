"""A bar chart of a run: plain SVG that reads at 400 pixels, on light and on dark pages."""

from collections.abc import Iterator, Sequence
from html import escape

from benchmarks.figures import OURS, Row

WIDTH, BAR, GAP, HEAD, LEFT, RIGHT = 400, 18, 4, 26, 150, 56
STYLE = """
  svg { color: #1f2328 } .ours { fill: #1a7f5a } .theirs { fill: #8c959f }
  text { font: 12px system-ui, sans-serif; fill: currentColor } .name { font-weight: 600 }
  @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } .ours { fill: #3fb98a } .theirs { fill: #6e7681 } }
"""


def draw_chart(rows: Sequence[Row]) -> str:
    """The requests a second of each row that has any, as an SVG document; pgbench and such would dwarf the others."""
    shown = [row for row in rows if len(bars(row)) > 1]
    height = sum(HEAD + len(bars(row)) * (BAR + GAP) for row in shown) + GAP
    lines = [*draw_rows(shown)]
    label = "Requests a second: " + "; ".join(describe_row(row) for row in shown)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-label="{escape(label)}">',
            f"<style>{STYLE}</style>",
            *lines,
            "</svg>\n",
        ]
    )


def bars(row: Row) -> list[tuple[str, float]]:
    """What is drawn of a row: ours first, and servers alone."""
    return [
        (name, figure.per_second)
        for name, figure in row.figures.items()
        if figure.per_second and (name == OURS or figure.memory_mb is not None)
    ]


def draw_rows(rows: Sequence[Row]) -> Iterator[str]:
    """The elements; each row has a scale of its own."""
    top = 0
    for row in rows:
        maximum = max(value for _, value in bars(row))
        yield f'<text class="name" x="0" y="{top + HEAD - 8}">{escape(row.name)}, requests/s</text>'
        top += HEAD
        for name, value in bars(row):
            width = max(1, round((WIDTH - LEFT - RIGHT) * value / maximum))
            kind = "ours" if name == OURS else "theirs"
            yield f'<text x="{LEFT - 6}" y="{top + BAR - 5}" text-anchor="end">{escape(name)}</text>'
            yield f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{width}" height="{BAR}" rx="2"/>'
            yield f'<text x="{LEFT + width + 4}" y="{top + BAR - 5}">{value:,.0f}</text>'
            top += BAR + GAP


def describe_row(row: Row) -> str:
    """A row in words, for who cannot see it."""
    return f"{row.name} " + ", ".join(f"{name} {value:,.0f}" for name, value in bars(row))
