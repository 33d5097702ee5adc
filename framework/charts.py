"""Geometry of a stacked bar chart, drawn as inline SVG with an equivalent table."""

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 640, 180
LEFT, BOTTOM, TOP = 44, 22, 8
# So many labels fit below the bars.
MAX_LABELS = 8


@dataclass(frozen=True, slots=True)
class Amounts:
    """Calls in one time span; `label` is the short name for the axis, `name` the full one."""

    label: str
    name: str
    calls: int = 0
    refused: int = 0
    broken: int = 0

    @property
    def good(self) -> int:
        """Calls answered with neither 4xx nor 5xx."""
        return max(self.calls - self.refused - self.broken, 0)

    @property
    def description(self) -> str:
        """Tooltip text: `2026-11-23: 12 calls, 1 refused (4xx), 0 failed (5xx)`."""
        text = f"{self.name}: {self.calls} call{'' if self.calls == 1 else 's'}"
        if self.refused or self.broken:
            text += f", {self.refused} refused (4xx), {self.broken} failed (5xx)"
        return text


@dataclass(frozen=True, slots=True)
class Part:
    """One rectangle: the style is a class of .chart."""

    style: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """The stacked rectangles of a time span, and its label if there is room for one."""

    amounts: Amounts
    x: float
    width: float
    middle: float
    parts: Sequence[Part]
    label: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A horizontal grid line at a round number."""

    y: float
    number: int


@dataclass(frozen=True, slots=True)
class Chart:
    """What the template draws."""

    title: str
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    base: int = HEIGHT - BOTTOM
    total: int = field(default=0)
    refused: int = field(default=0)
    broken: int = field(default=0)


def round_up(number: int) -> int:
    """Round up to the next of 4, 10, 20, 40, 100, 200, 400...; half of each is a whole number."""
    step = 1
    while True:
        for nice in (4, 10, 20):
            if number <= nice * step:
                return nice * step
        step *= 10


def bars(title: str, amounts: Sequence[Amounts]) -> Chart:
    """Build the chart of these time spans, left to right."""
    top = round_up(max((each.calls for each in amounts), default=0))
    room = HEIGHT - BOTTOM - TOP
    step = (WIDTH - LEFT) / max(len(amounts), 1)
    every = -(-len(amounts) // MAX_LABELS)
    drawn = []
    for place, each in enumerate(amounts):
        y, parts = float(HEIGHT - BOTTOM), []
        for style, number in (("a", each.good), ("c", each.refused), ("b", each.broken)):
            if number:
                height = round(number / top * room, 1)
                y = round(y - height, 1)
                parts.append(Part(style, y, height))
        x = LEFT + place * step
        label = each.label if place % every == 0 else ""
        drawn.append(Bar(each, round(x + step * 0.12, 1), round(step * 0.76, 1), round(x + step / 2, 1), parts, label))
    ticks = [Tick(round(HEIGHT - BOTTOM - room * share, 1), int(top * share)) for share in (0, 0.5, 1)]
    return Chart(
        title,
        drawn,
        ticks,
        total=sum(each.calls for each in amounts),
        refused=sum(each.refused for each in amounts),
        broken=sum(each.broken for each in amounts),
    )
