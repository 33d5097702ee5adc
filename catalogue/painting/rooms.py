"""Rooms with lamps and tables, facades with awnings, and the card."""

from collections.abc import Sequence
from functools import partial
from math import cos, pi, sin

from catalogue.painting.canvas import WIDTH, Canvas, Color, Scene, box, darker, lighter, mixed, round_shape
from catalogue.painting.dishes import GREENS, around, leaf
from catalogue.painting.drinks import coffee
from catalogue.painting.tables import CLOTHS, lay, plate

# Wall, panels below it, floor, and the colour of the furniture.
ROOMS: list[tuple[Color, Color, Color, Color]] = [
    ((60, 88, 84), (44, 66, 64), (168, 124, 86), (222, 164, 92)),
    ((226, 206, 186), (196, 164, 140), (150, 106, 76), (84, 104, 96)),
    ((148, 70, 62), (112, 52, 50), (196, 156, 112), (240, 214, 170)),
    ((52, 62, 88), (40, 46, 68), (132, 96, 78), (214, 142, 98)),
    ((238, 232, 220), (210, 200, 184), (188, 146, 104), (196, 104, 82)),
    ((92, 110, 90), (70, 86, 72), (176, 138, 98), (234, 210, 160)),
    ((204, 168, 174), (168, 128, 140), (120, 90, 84), (92, 62, 78)),
]
FRONTS: list[tuple[Color, Color, Color]] = [
    ((216, 186, 152), (72, 100, 92), (196, 74, 62)),
    ((186, 96, 78), (58, 60, 72), (240, 226, 200)),
    ((226, 220, 206), (156, 62, 58), (64, 108, 120)),
    ((128, 150, 160), (62, 74, 92), (238, 190, 92)),
    ((240, 208, 176), (54, 96, 104), (54, 96, 104)),
    ((150, 166, 138), (74, 84, 66), (222, 120, 86)),
]
DAY: list[tuple[Color, Color]] = [((156, 200, 226), (226, 238, 240)), ((176, 206, 214), (244, 236, 220))]
EVENING: list[tuple[Color, Color]] = [((246, 190, 142), (250, 226, 196)), ((66, 74, 122), (214, 138, 130))]
GLOW: Color = (255, 222, 150)


def plant(canvas: Canvas, x: float, bottom: float, size: float) -> None:
    """A pot with leaves."""
    for turned in (-165, -140, -118, -92, -66, -42, -16):
        there = around(x, bottom - size * 0.75, size * 0.62, turned)
        leaf(canvas, *there, size * 0.5, turned, canvas.chance.choice(GREENS))
    pot = canvas.chance.choice([(196, 112, 78), (236, 226, 210), (70, 78, 88)])
    half = size * 0.36
    canvas.shape(
        [
            (x - half, bottom - size * 0.75),
            (x + half, bottom - size * 0.75),
            (x + half * 0.7, bottom),
            (x - half * 0.7, bottom),
        ],
        pot,
    )
    canvas.slab(x - half * 1.1, bottom - size * 0.8, x + half * 1.1, bottom - size * 0.66, lighter(pot))


def chair(canvas: Canvas, x: float, bottom: float, size: float, color: Color) -> None:
    """A chair from the front."""
    dark = darker(color, 0.3)
    for side in (-1, 1):
        canvas.slab(x + side * size * 0.34 - 7, bottom - size * 0.5, x + side * size * 0.34 + 7, bottom, dark)
    canvas.shape(box(x, bottom - size * 0.82, size * 0.84, size * 0.6, 0, size * 0.24), color)
    canvas.shape(box(x, bottom - size * 0.84, size * 0.6, size * 0.38, 0, size * 0.16), lighter(color, 0.16))
    canvas.shape(box(x, bottom - size * 0.48, size * 0.92, size * 0.17, 0, size * 0.07), darker(color, 0.12))


def lamp(canvas: Canvas, x: float, bottom: float, size: float, color: Color) -> None:
    """A lamp that hangs down, and its light."""
    canvas.slab(x - 2.5, 0, x + 2.5, bottom - size * 0.6, darker(color, 0.5))
    for reach, alpha in ((4.2, 15), (3.1, 20), (2.2, 28), (1.5, 36)):
        canvas.disc(x, bottom + size * 0.2, size * reach, GLOW, alpha=alpha)
    if not canvas.lamps_are_domes:
        canvas.shape(
            [
                (x - size * 0.24, bottom - size * 0.7),
                (x + size * 0.24, bottom - size * 0.7),
                (x + size, bottom),
                (x - size, bottom),
            ],
            color,
        )
    else:
        dome = [(x + size * cos(t), bottom - size * 0.85 * sin(t)) for t in (pi * step / 30 for step in range(31))]
        canvas.shape(dome, color)
    canvas.oval(x, bottom, size * 0.96, size * 0.14, lighter(GLOW, 0.6))
    canvas.disc(x, bottom + size * 0.1, size * 0.24, (255, 246, 218))


def interior(canvas: Canvas, *, windows: bool) -> None:
    """A room with lamps, tables and windows or pictures."""
    wall, panel, floor, furniture = canvas.chance.choice(ROOMS)
    high = canvas.height
    edge = high * 0.7
    canvas.slab(0, 0, WIDTH, edge, wall)
    if windows:
        upper, lower = canvas.chance.choice([*DAY, *EVENING])
        wide, lefts = canvas.chance.choice([(250, (120, 480, 840)), (450, (90, 660)), (540, (330,))])
        for left in lefts:
            top, base = high * 0.13, high * 0.5
            canvas.slab(left - 14, top - 14, left + wide + 14, base + 14, lighter(wall, 0.55))
            for number in range(10):
                step = (base - top) / 10
                canvas.slab(
                    left, top + number * step, left + wide, top + (number + 1) * step, mixed(upper, lower, number / 9)
                )
            x = float(left)
            while x < left + wide - 50:
                tall = canvas.chance.uniform(40, 170)
                canvas.slab(x, base - tall, min(x + 64, left + wide), base, mixed(lower, (70, 76, 104), 0.5))
                x += canvas.chance.uniform(58, 84)
            canvas.slab(left + wide / 2 - 5, top, left + wide / 2 + 5, base, lighter(wall, 0.55))
            canvas.slab(left, (top + base) / 2 - 5, left + wide, (top + base) / 2 + 5, lighter(wall, 0.55))
    else:
        for left, wide, tall in ((170, 190, 240), (430, 260, 190), (800, 170, 220), (1010, 120, 160)):
            frame = box(left + wide / 2, high * 0.3, wide, tall)
            canvas.shadow(frame, soft=10, fall=(6, 10), strength=90)
            canvas.shape(frame, darker(furniture, 0.35))
            ground, ink = canvas.chance.choice(CLOTHS)
            canvas.shape(box(left + wide / 2, high * 0.3, wide - 26, tall - 26), lighter(ground, 0.2))
            canvas.disc(left + wide / 2, high * 0.3 + 10, min(wide, tall) * 0.26, ink)
            canvas.shape(box(left + wide / 2, high * 0.3 + tall * 0.28, wide - 40, 34), darker(ink))
    canvas.slab(0, edge - high * 0.13, WIDTH, edge, panel)
    canvas.slab(0, edge - high * 0.13, WIDTH, edge - high * 0.13 + 9, lighter(panel, 0.25))
    canvas.slab(0, edge, WIDTH, high, floor)
    for number in range(-8, 9):
        ends = [(600 + number * 90, edge), (600 + number * 240, high)]
        canvas.line(ends, 4, darker(floor, 0.2), alpha=130)
    if canvas.chance.random() < 0.8:
        plant(canvas, canvas.chance.choice([70, 1130]), edge + 40, 190)
    lamps = canvas.chance.choice([2, 3, 4])
    color = canvas.chance.choice([furniture, darker(panel, 0.3), (214, 170, 92), (40, 42, 48)])
    for number in range(lamps):
        lamp(canvas, WIDTH * (number + 0.5) / lamps, high * canvas.chance.choice([0.3, 0.32]), 66, color)
    cloth = canvas.chance.choice([(248, 244, 234), lighter(furniture, 0.5), darker(floor, 0.3)])
    for x, bottom, size in ((250, high * 0.9, 200), (640, high * 0.95, 230), (1030, high * 0.9, 200)):
        for side in (-1, 1):
            chair(canvas, x + side * size * 0.84, bottom - 12, size * 0.82, furniture)
        canvas.shadow(round_shape(x, bottom, size * 0.5, size * 0.1), soft=16, fall=(0, 4), strength=130)
        canvas.slab(x - 11, bottom - size * 0.62, x + 11, bottom, darker(floor, 0.55))
        canvas.oval(x, bottom, size * 0.28, size * 0.06, darker(floor, 0.55))
        canvas.oval(x, bottom - size * 0.6, size * 0.66, size * 0.15, darker(cloth, 0.2))
        canvas.oval(x, bottom - size * 0.63, size * 0.66, size * 0.15, cloth)
        for apart in (-0.32, 0.3):
            canvas.oval(
                x + apart * size,
                bottom - size * 0.63,
                size * 0.17,
                size * 0.042,
                (255, 253, 248) if cloth != (248, 244, 234) else (222, 214, 200),
            )
        canvas.shape(box(x - 2, bottom - size * 0.76, size * 0.1, size * 0.24, 0, 8), (226, 236, 236), alpha=220)
        canvas.disc(
            x - 4,
            bottom - size * 0.93,
            size * 0.07,
            canvas.chance.choice([(226, 98, 92), (244, 190, 84), (214, 150, 190)]),
        )
        canvas.disc(x + 12, bottom - size * 0.88, size * 0.05, GREENS[1])


def exterior(canvas: Canvas, *, skies: Sequence[tuple[Color, Color]]) -> None:
    """A front with an awning, a door, windows and plants."""
    wall, wood, accent = canvas.chance.choice(FRONTS)
    upper, lower = canvas.chance.choice(skies)
    high = canvas.height
    ground = high * 0.86
    for number in range(8):
        canvas.slab(0, number * high * 0.03, WIDTH, (number + 1) * high * 0.03 + 1, mixed(upper, lower, number / 7))
    roof = high * 0.1
    canvas.slab(0, roof, WIDTH, ground, wall)
    canvas.slab(0, roof, WIDTH, roof + 18, lighter(wall, 0.35))
    if canvas.chance.random() < 0.5:
        for row in range(int((ground - roof) / 34)):
            for column in range(9):
                left = column * 150 + (row % 2) * 75 - 40
                if canvas.chance.random() < 0.3:
                    canvas.slab(
                        left, roof + 24 + row * 34, left + 66, roof + 48 + row * 34, darker(wall, 0.1), alpha=110
                    )
    for left in (110, 420, 730, 1000):
        canvas.slab(left - 10, roof + 50, left + 120, roof + 210, lighter(wall, 0.4))
        canvas.slab(left, roof + 60, left + 110, roof + 200, mixed(upper, (60, 70, 96), 0.55))
        canvas.shape([(left, roof + 60), (left + 60, roof + 60), (left, roof + 160)], (255, 255, 255), alpha=50)
        canvas.slab(left + 52, roof + 60, left + 58, roof + 200, lighter(wall, 0.4))
        for number in range(5):
            leaf(
                canvas,
                left + 10 + number * 24,
                roof + 212,
                22,
                canvas.chance.uniform(-150, -30),
                canvas.chance.choice(GREENS),
            )
            if canvas.chance.random() < 0.5:
                canvas.disc(left + 14 + number * 22, roof + 200, 9, accent)
        canvas.slab(left - 14, roof + 210, left + 124, roof + 234, darker(wood, 0.1))
    shop = high * 0.38
    canvas.slab(40, shop, 1160, ground, wood)
    canvas.slab(40, shop, 1160, shop + 78, darker(wood, 0.2))
    for number in range(canvas.chance.randint(6, 11)):
        canvas.shape(box(420 + number * 38, shop + 39, 22, 32, canvas.chance.uniform(-8, 8), 6), lighter(GLOW, 0.2))
    door = canvas.chance.choice([170, 530, 890])
    panes = [left for left in (100, 340, 580, 820) if abs(left + 100 - door - 70) > 160][:4]
    for left in panes:
        pane = (left, shop + 110, left + 220, ground - 80)
        canvas.slab(*pane, mixed(GLOW, wood, 0.18))
        canvas.disc(left + 110, shop + 200, 90, lighter(GLOW, 0.5), alpha=110)
        canvas.slab(left, ground - 150, left + 220, ground - 80, darker(wood, 0.4), alpha=110)
        for number in range(2):
            canvas.oval(left + 60 + number * 100, ground - 150, 44, 10, darker(wood, 0.3))
            canvas.disc(left + 60 + number * 100, ground - 190, 20, darker(wood, 0.35), alpha=150)
        canvas.slab(left + 106, shop + 110, left + 114, ground - 80, wood)
        canvas.shape([(left, shop + 110), (left + 90, shop + 110), (left, ground - 230)], (255, 255, 255), alpha=60)
    canvas.slab(door - 14, shop + 100, door + 154, ground, lighter(wood, 0.25))
    canvas.slab(door, shop + 114, door + 140, ground, accent if accent != wood else lighter(wood, 0.15))
    canvas.slab(door + 22, shop + 136, door + 118, ground - 110, mixed(GLOW, wood, 0.25))
    canvas.disc(door + 126, ground - 90, 8, (240, 214, 150))
    awning(canvas, shop + 74, accent if accent != wood else (244, 236, 220))
    canvas.slab(0, ground, WIDTH, high, (186, 180, 172))
    canvas.slab(0, ground, WIDTH, ground + 10, (214, 208, 200))
    for left in range(0, 1300, 160):
        canvas.line([(left, ground + 10), (left - 70, high)], 4, (160, 154, 148), alpha=150)
    for x in (70, door - 52, door + 194, 1136):
        plant(canvas, x, ground + 22, 104)
    for x in canvas.chance.sample([330, 480, 780, 1000], 2):
        if abs(x - door - 70) > 150:
            canvas.shadow(round_shape(x, ground + 60, 90, 12), soft=10, fall=(6, 4), strength=110)
            canvas.slab(x - 6, ground - 60, x + 6, ground + 60, (52, 54, 60))
            canvas.oval(x, ground - 62, 84, 15, lighter(accent, 0.3))
            for side in (-1, 1):
                chair(canvas, x + side * 112, ground + 58, 112, darker(accent, 0.2))


def awning(canvas: Canvas, top: float, color: Color) -> None:
    """Stripes with scallops below them."""
    low = top + 72
    canvas.shadow([(60, top), (1140, top), (1180, low + 26), (20, low + 26)], soft=16, fall=(0, 22), strength=130)
    stripes = 16
    for number in range(stripes):
        tone = color if number % 2 else (250, 246, 236)
        upper = [60 + 1080 * (number + side) / stripes for side in (0, 1)]
        lower = [20 + 1160 * (number + side) / stripes for side in (0, 1)]
        canvas.shape([(upper[0], top), (upper[1], top), (lower[1], low), (lower[0], low)], tone)
        canvas.oval((lower[0] + lower[1]) / 2, low, (lower[1] - lower[0]) / 2, 26, darker(tone, 0.07))
    canvas.slab(56, top - 8, 1144, top + 6, darker(color, 0.3))


def card(canvas: Canvas) -> None:
    """The menu on a table."""
    lay(canvas)
    x, y = canvas.middle
    ground, ink = canvas.chance.choice(
        [
            ((250, 244, 230), (96, 62, 48)),
            ((252, 250, 244), (54, 84, 92)),
            ((44, 56, 54), (240, 222, 178)),
            ((238, 222, 200), (150, 58, 48)),
        ]
    )
    turned = canvas.chance.uniform(-9, 9)
    tall = canvas.height * 0.86
    sheet = box(x - 40, y, 600, tall, turned, 10)
    canvas.shadow(sheet, soft=24)
    canvas.shape(sheet, ground)
    down, across = turned + 90, turned

    def at(right: float, below: float) -> tuple[float, float]:
        return around(*around(x - 40, y, below, down), right, across)

    edge = [
        at(right, below)
        for right, below in (
            (-262, -tall / 2 + 38),
            (262, -tall / 2 + 38),
            (262, tall / 2 - 38),
            (-262, tall / 2 - 38),
        )
    ]
    canvas.line([*edge, edge[0]], 4, ink)
    canvas.shape(box(*at(0, -tall / 2 + 110), 250, 36, turned, 10), ink)
    for side in (-1, 1):
        leaf(
            canvas,
            *at(side * 190, -tall / 2 + 110),
            42,
            turned if side > 0 else turned + 180,
            canvas.chance.choice(GREENS[:3]),
        )
    below = -tall / 2 + 190
    while below < tall / 2 - 90:
        canvas.shape(box(*at(-110, below), canvas.chance.uniform(120, 220), 17, turned, 8), ink)
        canvas.shape(box(*at(214, below), 44, 17, turned, 8), mixed(ink, (210, 120, 70), 0.4))
        canvas.shape(box(*at(-70, below + 28), canvas.chance.uniform(180, 280), 8, turned, 4), mixed(ink, ground, 0.5))
        below += 74
    side = canvas.chance.choice([-1, 1])
    plate(canvas, x + side * 500, y + 190, 190)
    canvas.shape(box(x + side * 500, y + 190, 90, 200, 24, 8), canvas.chance.choice(CLOTHS)[1])


def table(canvas: Canvas) -> None:
    """A table that is laid, with flowers."""
    lay(canvas)
    x, y = canvas.middle
    for place in ((x - 340, y), (x + 340, y)):
        color = plate(canvas, *place, 210)
        canvas.disc(*place, 120, lighter(color, 0.5))
        napkin = box(*place, 74, 190, canvas.chance.uniform(-30, 30), 8)
        canvas.shadow(napkin, soft=7, fall=(4, 7), strength=80)
        canvas.shape(napkin, canvas.chance.choice(CLOTHS)[1])
        for side in (-1, 1):
            fork = box(place[0] + side * 250, place[1], 15, 300, 0, 7)
            canvas.shadow(fork, soft=6, fall=(5, 8), strength=90)
            canvas.shape(fork, (206, 208, 212))
        glass = (place[0] + 130, place[1] - 250)
        canvas.shadow(round_shape(*glass, 64, 64), soft=14, fall=(12, 18), strength=90)
        canvas.disc(*glass, 66, (236, 242, 244), alpha=190)
        canvas.disc(*glass, 50, canvas.chance.choice([(150, 40, 62), (240, 210, 130), (206, 226, 232)]), alpha=230)
        canvas.arc(*glass, 58, (190, 260), 6, (255, 255, 255))
    canvas.shadow(round_shape(x, y, 90, 90), soft=22, fall=(16, 26))
    for turned in range(0, 360, 36):
        leaf(canvas, *around(x, y, 96, turned + 12), 62, turned + 12, canvas.chance.choice(GREENS))
    bloom = canvas.chance.sample([(232, 96, 92), (248, 196, 90), (236, 150, 186), (250, 240, 230), (150, 110, 190)], 3)
    for number in range(7):
        there = (x, y) if number == 6 else around(x, y, 76, number * 60)
        tone = bloom[number % 3]
        for petal in range(6):
            canvas.disc(*around(*there, 25, petal * 60 + number * 13), 23, darker(tone, 0.06 if petal % 2 else 0))
        canvas.disc(*there, 16, (246, 204, 92) if tone != (248, 196, 90) else (150, 92, 50))


INTERIORS: dict[str, Scene] = {
    "windows": partial(interior, windows=True),
    "pictures": partial(interior, windows=False),
}
EXTERIORS: dict[str, Scene] = {"day": partial(exterior, skies=DAY), "evening": partial(exterior, skies=EVENING)}
MENUS: dict[str, Scene] = {"card": card}
OTHERS: dict[str, Scene] = {"table": table, "coffee": coffee, **EXTERIORS, **INTERIORS}
