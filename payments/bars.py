"""Bars over named spans, as a template draws them in SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from payments.chart import Bar, Line, round_step

WIDTH, HEIGHT = 720, 200
LEFT, TOP, BOTTOM = 60, 10, 24
LABELS = 16


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over a grid that ends at a round amount above the highest of them."""

    bars: tuple[Bar, ...]
    grid: tuple[Line, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    label_y: int = HEIGHT - 6


def drawn(sums: Sequence[tuple[str, str, Decimal]]) -> Bars:
    """The USDC of each span as a bar: its name, the label below it, and the amount."""
    step = round_step(max((usdc for _, _, usdc in sums), default=Decimal(0)))
    room, top = Decimal(HEIGHT - TOP - BOTTOM), step * 4
    each = Decimal(WIDTH - LEFT) / max(len(sums), 1)
    every = -(-len(sums) // LABELS)
    bars = []
    for place, (name, label, usdc) in enumerate(sums):
        high, left = room * usdc / top, LEFT + each * place
        bars.append(
            Bar(
                x=f"{left + each / 10:.2f}",
                y=f"{TOP + room - high:.2f}",
                width=f"{each * 8 / 10:.2f}",
                height=f"{high:.2f}",
                tooltip=f"{name}: {usdc.normalize():f} USDC",
                label="" if place % every else label,
                middle=f"{left + each / 2:.2f}",
            )
        )
    grid = (Line(f"{TOP + room - room * line / 4:.2f}", f"{(step * line).normalize():f}") for line in range(0, 5, 2))
    return Bars(tuple(bars), tuple(grid))
