"""The geometry of bar charts, which templates draw as SVG without a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

# Twice and four times such a step, the labels of a grid, have at most two digits.
NICE_STEPS = tuple(map(Decimal, ("1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")))


@dataclass(frozen=True, slots=True)
class Column:
    """One bar: its description, its label on the axis, and stacked `parts`, each a CSS class and a value."""

    text: str
    label: str
    parts: Sequence[tuple[str, Decimal | int]]
    # What it is compared with: drawn as a mark.
    before: Decimal | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The size of a chart and its margins, in units of the drawing, and how much fits around it."""

    width: int
    height: int
    left: int
    right: int = 0
    top: int
    bottom: int
    max_labels: int
    grid_lines: int = 3

    @property
    def room(self) -> int:
        """The height of the highest bar that is possible."""
        return self.height - self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Part:
    """One rectangle of a bar."""

    style: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """The rectangles of one column, from the bottom up; `label` is empty where there is no room for it."""

    x: float
    width: float
    middle: float
    parts: Sequence[Part]
    text: str
    label: str
    # The bar of the compared value, behind these; None without one.
    before: Part | None = None


@dataclass(frozen=True, slots=True)
class GridLine:
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars over a grid that ends at a round value, at or above the highest of them."""

    bars: Sequence[Bar]
    grid: Sequence[GridLine]
    layout: Layout

    @property
    def right(self) -> int:
        return self.layout.width - self.layout.right

    @property
    def label_y(self) -> int:
        """The baseline of the labels."""
        return self.layout.height - self.layout.bottom // 3


def bar_chart(columns: Sequence[Column], layout: Layout, *, whole_numbers: bool = False) -> BarChart:
    """A chart of these columns, from the left to the right. `whole_numbers` keeps fractions off the grid."""
    sums = [sum((Decimal(value) for _, value in each.parts), Decimal(0)) for each in columns]
    highest = max([*sums, *(Decimal(each.before) for each in columns if each.before is not None)], default=Decimal(0))
    step = round_step(highest, whole_numbers=whole_numbers)
    base, pitch = layout.height - layout.bottom, (layout.width - layout.left - layout.right) / max(len(columns), 1)
    labelled_every = -(-len(columns) // layout.max_labels)
    bars = []
    for place, column in enumerate(columns):
        x, y, parts = layout.left + pitch * place, float(base), []
        for style, value in column.parts:
            height = round(float(layout.room * Decimal(value) / (step * 4)), 2)
            y = round(y - height, 2)
            parts.append(Part(style, y, height))
        label = "" if place % labelled_every else column.label
        left, width, middle = round(x + pitch / 10, 2), round(pitch * 0.8, 2), round(x + pitch / 2, 2)
        before = None
        if column.before is not None:
            height = round(float(layout.room * Decimal(column.before) / (step * 4)), 2)
            before = Part("before", round(base - height, 2), height)
        bars.append(Bar(left, width, middle, parts, column.text, label, before))
    grid = [
        GridLine(round(base - layout.room * line / 4, 2), f"{(step * line).normalize():f}")
        for line in range(0, 5, 4 // (layout.grid_lines - 1))
    ]
    return BarChart(bars, grid, layout)


def round_step(highest: Decimal, *, whole_numbers: bool = False) -> Decimal:
    """A round value of which four reach at least as high as the highest bar. Half of the four is whole on request."""
    if highest <= 0:
        return Decimal(1) if whole_numbers else Decimal("0.001")
    quarter = max(highest / 4, Decimal(1)) if whole_numbers else highest / 4
    unit = Decimal(10) ** quarter.adjusted()
    return next(unit * nice for nice in NICE_STEPS if unit * nice >= quarter)
