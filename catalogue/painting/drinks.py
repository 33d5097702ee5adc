"""Drinks: cups from above, glasses from the side."""

from collections.abc import Sequence
from functools import partial
from math import cos, pi, sin

from catalogue.painting.canvas import WIDTH, Canvas, Color, Scene, box, darker, lighter, mixed, round_shape
from catalogue.painting.dishes import around, citrus, leaf
from catalogue.painting.tables import CLOTHS, CROCKERY, bowl, lay

# The wall behind a glass, the bar below it, and the lights on the wall.
BARS: list[tuple[Color, Color, Color]] = [
    ((42, 58, 76), (104, 70, 54), (246, 196, 110)),
    ((70, 40, 52), (136, 86, 60), (250, 176, 124)),
    ((34, 72, 68), (150, 108, 74), (250, 224, 150)),
    ((232, 196, 170), (170, 112, 84), (255, 240, 214)),
    ((186, 208, 206), (206, 170, 130), (255, 250, 236)),
    ((58, 50, 92), (92, 64, 76), (255, 170, 150)),
]
LIQUIDS: list[Color] = [
    (226, 92, 72),
    (240, 164, 62),
    (236, 130, 148),
    (150, 194, 108),
    (118, 170, 206),
    (176, 74, 110),
]


def bar(canvas: Canvas) -> Color:
    """A bar at night or by day, out of focus; the colour of its lights."""
    wall, counter, lights = canvas.chance.choice(BARS)
    edge = canvas.height * 0.72
    canvas.slab(0, 0, WIDTH, edge, wall)
    for _ in range(20):
        size = canvas.chance.uniform(22, 76)
        there = (canvas.chance.uniform(0, WIDTH), canvas.chance.uniform(0, edge * 0.9))
        canvas.disc(*there, size, mixed(wall, lights, canvas.chance.uniform(0.3, 0.8)), alpha=110)
    for left in range(60, 1200, 190):
        if canvas.chance.random() < 0.6:
            tone = mixed(wall, canvas.chance.choice(LIQUIDS), 0.3)
            canvas.shape(box(left, edge - 130, 72, 230, 0, 20), tone)
            canvas.shape(box(left, edge - 270, 26, 90, 0, 8), tone)
    canvas.slab(0, edge, WIDTH, canvas.height, counter)
    canvas.slab(0, edge, WIDTH, edge + 12, lighter(counter, 0.3))
    return lights


def heart(canvas: Canvas, x: float, y: float, size: float, color: Color) -> None:
    """A heart of milk."""
    outline = []
    for step in range(80):
        t = 2 * pi * step / 80
        down = 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        outline.append((x + size * 16 * sin(t) ** 3, y - size * down))
    canvas.shape(outline, color)


def coffee(canvas: Canvas) -> None:
    """A cup of coffee with a heart or a rosetta of milk."""
    lay(canvas)
    x, y = canvas.middle
    color = canvas.chance.choice([*CROCKERY, (196, 96, 78), (62, 106, 118)])
    canvas.shadow(round_shape(x, y, 340, 340))
    canvas.disc(x, y, 340, darker(color, 0.1))
    canvas.disc(x - 3, y - 5, 334, color)
    canvas.disc(x, y, 250, darker(color, 0.08))
    handle = box(x + 262, y - 62, 190, 66, -14, 30)
    canvas.shadow(handle, soft=14, fall=(10, 18))
    canvas.shape(handle, darker(color, 0.06))
    canvas.shape(box(x + 258, y - 66, 170, 34, -14, 16), lighter(color, 0.3))
    bowl(canvas, x, y, 228, lighter(color, 0.25), (122, 70, 42))
    canvas.disc(x + 3, y + 7, 186, (160, 98, 58))
    milk = (252, 238, 214)
    if canvas.chance.random() < 0.5:
        heart(canvas, x + 3, y + 8, 9, milk)
        canvas.arc(x + 3, y + 8, 172, (20, 160), 7, milk)
    else:
        for number in range(3):
            heart(canvas, x + 3, y + 62 - number * 58, 7.6 - number * 1.7, milk)
            heart(canvas, x + 3, y + 62 - number * 58 - 12, 5.2 - number * 1.5, (182, 118, 72))
    biscuit = box(x - 292, y + 120, 150, 86, -32, 18)
    canvas.shadow(biscuit, soft=9, fall=(7, 12))
    canvas.shape(biscuit, (190, 122, 66))
    canvas.shape(box(x - 294, y + 116, 134, 70, -32, 14), (220, 160, 96))
    canvas.shape(box(x - 20, y + 300, 220, 15, -10, 7), (206, 208, 212))
    canvas.shape(round_shape(x + 110, y + 282, 42, 25, -10), (216, 218, 222))


def shine(canvas: Canvas, x: float, top: float, bottom: float) -> None:
    """Light on a glass."""
    canvas.shape(box(x, (top + bottom) / 2, 15, bottom - top, 0, 8), (255, 255, 255), alpha=120)
    canvas.shape(box(x + 26, (top + bottom) / 2 + 20, 6, (bottom - top) * 0.7, 0, 3), (255, 255, 255), alpha=90)


def foot(canvas: Canvas, x: float, bottom: float, width: float, glow: Color) -> None:
    """Where a glass stands."""
    canvas.shadow(round_shape(x, bottom, width, width * 0.18), soft=20, fall=(26, 12), strength=140)
    canvas.oval(x, bottom, width, width * 0.16, mixed(glow, (255, 255, 255), 0.4), alpha=130)


def cocktail(canvas: Canvas) -> None:
    """A coupe or a pointed glass."""
    lights = bar(canvas)
    x, bottom = canvas.middle[0] + canvas.chance.uniform(-90, 90), canvas.height * 0.86
    liquid = canvas.chance.choice(LIQUIDS)
    foot(canvas, x, bottom, 120, lights)
    canvas.slab(x - 9, bottom - 320, x + 9, bottom - 4, (236, 240, 242), alpha=190)
    top = bottom - 600
    pointed = canvas.chance.random() < 0.5
    if pointed:
        canvas.shape(
            [(x - 250, top), (x + 250, top), (x + 12, bottom - 300), (x - 12, bottom - 300)],
            (240, 246, 248),
            alpha=110,
        )
        canvas.shape([(x - 205, top + 52), (x + 205, top + 52), (x + 8, bottom - 304), (x - 8, bottom - 304)], liquid)
        canvas.shape(
            [(x - 205, top + 52), (x + 20, top + 52), (x, bottom - 304), (x - 8, bottom - 304)],
            lighter(liquid, 0.25),
            alpha=140,
        )
    else:
        curve = [(x + 240 * cos(t), top + 70 + 230 * sin(t)) for t in (pi * step / 40 for step in range(41))]
        canvas.shape([(x - 240, top + 30), *reversed(curve), (x + 240, top + 30)], (240, 246, 248), alpha=110)
        inner = [(x + 218 * cos(t), top + 92 + 192 * sin(t)) for t in (pi * step / 40 for step in range(41))]
        canvas.shape(inner, liquid)
        canvas.shape(
            [(px * 0.5 + (x - 70) * 0.5, py * 0.82 + (top + 110) * 0.18) for px, py in inner],
            lighter(liquid, 0.25),
            alpha=140,
        )
        canvas.oval(x, top + 92, 218, 22, lighter(liquid, 0.55))
    if not pointed:
        shine(canvas, x - 120, top + 60, top + 200)
    if canvas.chance.random() < 0.6:
        citrus(canvas, x + 200, top + 26, 74, canvas.chance.choice([(246, 208, 82), (164, 204, 84), (242, 150, 62)]))
    else:
        canvas.line([(x - 60, top + 190), (x + 150, top - 40)], 6, (220, 190, 140))
        for number in range(3):
            canvas.disc(
                x - 40 + number * 34, top + 168 - number * 37, 23, (120, 150, 74) if number != 1 else (214, 60, 60)
            )


def highball(canvas: Canvas) -> None:
    """A tall glass with ice, a straw and mint."""
    lights = bar(canvas)
    x, bottom = canvas.middle[0] + canvas.chance.uniform(-120, 120), canvas.height * 0.87
    liquid, deep = canvas.chance.sample(LIQUIDS, 2)
    top = bottom - 590
    foot(canvas, x, bottom, 140, lights)
    canvas.line(
        [(x + 40, bottom - 60), (x + 130, top - 150)], 16, canvas.chance.choice([(240, 236, 226), (206, 74, 66)])
    )
    canvas.shape(box(x, (top + bottom) / 2, 270, bottom - top, 0, 26), (240, 246, 248), alpha=110)
    levels = 16
    for number in range(levels):
        upper = top + 80 + (bottom - top - 96) * number / levels
        lower = top + 80 + (bottom - top - 96) * (number + 1) / levels + 1
        canvas.slab(x - 118, upper, x + 118, lower, mixed(liquid, deep, number / levels))
    for number in range(5):
        cube = box(
            x + (-46 if number % 2 else 44), top + 140 + number * 84, 92, 88, canvas.chance.uniform(-20, 20), 14
        )
        canvas.shape(cube, (255, 255, 255), alpha=85)
    for _ in range(22):
        canvas.disc(
            x + canvas.chance.uniform(-105, 105),
            canvas.chance.uniform(top + 110, bottom - 40),
            5,
            (255, 255, 255),
            alpha=120,
        )
    shine(canvas, x - 96, top + 40, bottom - 60)
    for turned in (-150, -100, -50, -20):
        leaf(
            canvas,
            *around(x - 30, top + 60, 54, turned),
            56,
            turned,
            canvas.chance.choice([(98, 166, 84), (66, 130, 70)]),
        )
    citrus(canvas, x + 132, top + 40, 66, canvas.chance.choice([(246, 208, 82), (164, 204, 84)]))


def wine(canvas: Canvas, *, color: Color) -> None:
    """Two glasses of wine and a bottle."""
    lights = bar(canvas)
    bottom = canvas.height * 0.86
    bottle = canvas.chance.choice([(44, 70, 54), (60, 50, 44), (36, 52, 66)])
    left = canvas.chance.choice([270, 930])
    foot(canvas, left, bottom, 92, bottle)
    canvas.shape(box(left, bottom - 200, 176, 420, 0, 26), bottle)
    canvas.shape(
        [(left - 88, bottom - 390), (left + 88, bottom - 390), (left + 32, bottom - 480), (left - 32, bottom - 480)],
        bottle,
    )
    canvas.shape(box(left, bottom - 560, 62, 200, 0, 8), bottle)
    canvas.shape(box(left, bottom - 620, 68, 80, 0, 8), canvas.chance.choice(CLOTHS)[1])
    canvas.shape(box(left, bottom - 190, 176, 190, 0, 4), (246, 238, 220))
    canvas.shape(box(left, bottom - 220, 110, 10, 0, 4), darker(bottle))
    canvas.shape(box(left, bottom - 180, 84, 40, 0, 10), canvas.chance.choice(CLOTHS)[1])
    shine(canvas, left - 58, bottom - 370, bottom - 40)
    for x in (
        canvas.middle[0] - (0 if left < 600 else 160),
        canvas.middle[0] + (160 if left < 600 else 0) + (120 if left < 600 else 10),
    ):
        foot(canvas, x, bottom + 14, 100, lights)
        canvas.slab(x - 7, bottom - 250, x + 7, bottom + 12, (236, 240, 242), alpha=190)
        cup = [
            (x + 132 * cos(t) * (1 - 0.16 * (1 - sin(t))), bottom - 400 + 168 * sin(t))
            for t in (pi * step / 40 - 0.0 for step in range(41))
        ]
        canvas.shape([(x - 92, bottom - 590), *reversed(cup), (x + 92, bottom - 590)], (240, 246, 248), alpha=110)
        inner = [(x + (px - x) * 0.93, bottom - 400 + (py - bottom + 400) * 0.94) for px, py in cup]
        canvas.shape(inner, color)
        canvas.oval(x, bottom - 400, 103, 13, lighter(color, 0.3))
        shine(canvas, x - 70, bottom - 540, bottom - 330)


def beer(canvas: Canvas, *, colors: Sequence[Color]) -> None:
    """A mug of beer with its foam."""
    lights = bar(canvas)
    x, bottom = canvas.middle[0] + canvas.chance.uniform(-100, 100), canvas.height * 0.88
    color = canvas.chance.choice(colors)
    top = bottom - 520
    foot(canvas, x, bottom, 180, lights)
    unit = canvas.unit
    canvas.pen.rounded_rectangle(
        ((x + 120) * unit, (top + 120) * unit, (x + 290) * unit, (bottom - 90) * unit),
        radius=80 * unit,
        outline=(232, 238, 240, 210),
        width=round(38 * unit),
    )
    canvas.shape(box(x, (top + bottom) / 2, 360, bottom - top, 0, 30), (236, 242, 244), alpha=150)
    canvas.shape(box(x, (top + bottom) / 2 + 10, 324, bottom - top - 50, 0, 22), color)
    canvas.shape(box(x - 70, (top + bottom) / 2 + 10, 120, bottom - top - 70, 0, 20), lighter(color, 0.3), alpha=120)
    for _ in range(34):
        canvas.disc(
            x + canvas.chance.uniform(-145, 145),
            canvas.chance.uniform(top + 120, bottom - 50),
            canvas.chance.uniform(3, 8),
            (255, 250, 230),
            alpha=150,
        )
    foam = (255, 250, 236)
    canvas.shape(box(x, top + 60, 360, 110, 0, 40), foam)
    for number in range(7):
        canvas.disc(x - 170 + number * 57, top + 10 - (number % 3) * 14, 52, foam)
        canvas.disc(x - 176 + number * 57, top - (number % 3) * 14, 26, (255, 255, 252))
    canvas.shape(box(x - 120, top + 130, 52, 110, 0, 26), foam)
    shine(canvas, x - 142, top + 130, bottom - 60)


DRINKS: dict[str, Scene] = {
    "coffee": coffee,
    "cocktail": cocktail,
    "long drink": highball,
    "red wine": partial(wine, color=(134, 28, 54)),
    "white wine": partial(wine, color=(238, 206, 118)),
    "pink wine": partial(wine, color=(236, 150, 140)),
    "beer": partial(beer, colors=((238, 170, 46), (206, 116, 36), (246, 200, 96))),
    "dark beer": partial(beer, colors=((72, 42, 32),)),
}
