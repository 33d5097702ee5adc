"""The geometry of a bar chart: what a template draws as SVG, without a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from payments.reports.revenue import Sum

WIDTH, HEIGHT = 960, 260
LEFT, RIGHT, TOP, BOTTOM = 70, 10, 14, 30
LABELS = 12
NICE = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in units of the drawing; `label` is written below it where there is room."""

    x: str
    y: str
    width: str
    height: str
    tooltip: str
    label: str
    middle: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the grid, and the amount that it stands for."""

    y: str
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars over a grid that ends at a round amount above the highest of them."""

    bars: tuple[Bar, ...]
    grid: tuple[Line, ...]
    description: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    label_y: int = HEIGHT - 10


def drawn(sums: Sequence[Sum], *, per: str) -> Chart:
    """The USDC of each sum as a bar."""
    step = round_step(max((each.usdc for each in sums), default=Decimal(0)))
    top = step * 4
    room = Decimal(HEIGHT - TOP - BOTTOM)
    each_x = Decimal(WIDTH - LEFT - RIGHT) / max(len(sums), 1)
    every = -(-len(sums) // LABELS)
    bars = []
    for place, each in enumerate(sums):
        height = room * each.usdc / top
        x = LEFT + each_x * place
        bars.append(
            Bar(
                x=f"{x + each_x / 10:.2f}",
                y=f"{TOP + room - height:.2f}",
                width=f"{each_x * 8 / 10:.2f}",
                height=f"{height:.2f}",
                tooltip=f"{each.name}: {each.usdc.normalize():f} USDC, {each.payments} payments",
                label="" if place % every else each.name[:7] if per == "month" else each.name[5:],
                middle=f"{x + each_x / 2:.2f}",
            )
        )
    grid = tuple(
        Line(y=f"{TOP + room - room * line / 4:.2f}", label=f"{(step * line).normalize():f}") for line in range(5)
    )
    best = max(sums, key=lambda each: each.usdc, default=None)
    best_text = f"The best {per} is {best.name} with {best.usdc.normalize():f} USDC." if best and best.usdc else ""
    return Chart(bars=tuple(bars), grid=grid, description=f"USDC by {per}, {len(sums)} bars. {best_text}".strip())


def round_step(highest: Decimal) -> Decimal:
    """A round amount of which four reach as high as the highest bar."""
    if highest <= 0:
        return Decimal("0.001")
    quarter = highest / 4
    unit = Decimal(10) ** quarter.adjusted()
    return next(unit * nice for nice in NICE if unit * nice >= quarter)
