"""Dishes on plates and in bowls, seen from above."""

from functools import partial
from math import cos, pi, radians, sin

from catalogue.painting.canvas import Canvas, Color, Point, Scene, box, darker, lighter, mixed, round_shape
from catalogue.painting.tables import CROCKERY, WOODS, bowl, chopsticks, cutlery, lay, plate

GREENS: list[Color] = [(86, 140, 70), (118, 168, 84), (62, 112, 66), (150, 188, 96), (44, 92, 58)]
BASIL, TOMATO, LEMON = (70, 130, 62), (214, 70, 52), (246, 208, 82)


def around(x: float, y: float, reach: float, angle: float) -> Point:
    """A point so far away in a direction."""
    return x + reach * cos(radians(angle)), y + reach * sin(radians(angle))


def scattered(canvas: Canvas, x: float, y: float, reach: float, count: int) -> list[tuple[float, float, float]]:
    """Points spread evenly but not in rows over a disc, each with an angle."""
    begins = canvas.chance.uniform(0, 360)
    places = []
    for number in range(count):
        far = reach * ((number + 0.6) / count) ** 0.5 * canvas.chance.uniform(0.92, 1.04)
        there = around(x, y, far, begins + number * 137.5)
        places.append((*there, canvas.chance.uniform(0, 360)))
    return places


def leaf(canvas: Canvas, x: float, y: float, length: float, turned: float, color: Color) -> None:
    """A leaf with its vein."""
    c, s = cos(radians(turned)), sin(radians(turned))
    outline = []
    for step in range(25):
        along = step / 12 - 1 if step <= 12 else 1 - (step - 12) / 12
        side = 1 if step <= 12 else -1
        across = side * 0.42 * cos(along * pi / 2) * length * (1 - 0.25 * along)
        outline.append((x + along * length * c - across * s, y + along * length * s + across * c))
    canvas.shape(outline, color)
    canvas.line([around(x, y, -length * 0.8, turned), around(x, y, length * 0.8, turned)], 3, lighter(color, 0.35))


def citrus(canvas: Canvas, x: float, y: float, radius: float, color: Color = LEMON) -> None:
    """A slice of lemon or lime."""
    canvas.disc(x, y, radius, color)
    canvas.disc(x, y, radius * 0.86, lighter(color, 0.75))
    for number in range(8):
        there = around(x, y, radius * 0.44, number * 45 + 10)
        canvas.shape(round_shape(*there, radius * 0.34, radius * 0.15, number * 45 + 10, 20), lighter(color, 0.15))


def tomato(canvas: Canvas, x: float, y: float, radius: float) -> None:
    """Half a small tomato."""
    canvas.disc(x + 3, y + 5, radius, darker(TOMATO, 0.4), alpha=120)
    canvas.disc(x, y, radius, TOMATO)
    canvas.disc(x, y, radius * 0.78, lighter(TOMATO, 0.25))
    for angle in (30, 150, 270):
        canvas.disc(*around(x, y, radius * 0.4, angle), radius * 0.24, (240, 158, 84))


def egg(canvas: Canvas, x: float, y: float, size: float, turned: float) -> None:
    """Half a boiled egg."""
    canvas.shape(round_shape(x + 3, y + 7, size, size * 0.78, turned), (80, 40, 20), alpha=110)
    canvas.shape(round_shape(x, y, size, size * 0.78, turned), (250, 244, 232))
    canvas.disc(*around(x, y, size * 0.12, turned), size * 0.46, (238, 150, 46))
    canvas.disc(*around(x, y, size * 0.02, turned), size * 0.14, (252, 196, 104))


def ramen(canvas: Canvas) -> None:
    """Noodles in broth with egg, seaweed, spring onions and a fish cake."""
    lay(canvas)
    x, y = canvas.middle
    broth = canvas.chance.choice([(206, 142, 74), (190, 104, 58), (226, 186, 122), (168, 96, 60)])
    bowl(
        canvas,
        x,
        y,
        360,
        canvas.chance.choice([(58, 56, 64), (170, 52, 44), (42, 74, 100), (240, 234, 222), (52, 88, 78)]),
        broth,
    )
    noodle = lighter(mixed(broth, (250, 214, 130), 0.75), 0.15)
    for _ in range(34):
        there = around(x, y + 20, canvas.chance.uniform(20, 150), canvas.chance.uniform(20, 200))
        begins, bend = canvas.chance.uniform(0, 360), canvas.chance.uniform(50, 110)
        tone = mixed(noodle, darker(noodle, 0.3), canvas.chance.random())
        canvas.arc(*there, bend, (begins, begins + 150), 11, tone)
    for place in scattered(canvas, x, y, 270, 16):
        canvas.disc(place[0], place[1], canvas.chance.uniform(6, 15), lighter(broth, 0.35), alpha=110)
    sheet = box(x + 150, y - 200, 190, 240, 22, 6)
    canvas.shadow(sheet, soft=10, fall=(6, 12), strength=120)
    canvas.shape(sheet, (38, 52, 46))
    for turned in (200, 232):
        there = around(x, y, 205, turned)
        meat = canvas.wavy(*there, 92, rough=0.05)
        canvas.shadow(meat, soft=8, fall=(5, 9), strength=110)
        canvas.shape(meat, (176, 112, 84))
        canvas.shape(canvas.wavy(*there, 74, rough=0.07), (208, 148, 118))
        canvas.arc(*there, 46, (30, 250), 12, (240, 208, 184))
    egg(canvas, x + 10, y + 190, 78, 12)
    egg(canvas, x + 165, y + 130, 78, -48)
    cake = around(x, y, 225, 150)
    canvas.shape(canvas.wavy(*cake, 62, rough=0.03), (248, 242, 238))
    canvas.arc(*cake, 40, (0, 270), 10, (230, 120, 140))
    canvas.arc(cake[0] + 4, cake[1], 20, (180, 420), 9, (230, 120, 140))
    for spot in scattered(canvas, x - 10, y - 20, 120, 17):
        canvas.ring(spot[0], spot[1], 14, 7, canvas.chance.choice(GREENS[:4]))
    chopsticks(canvas, x + 250, y - 150, 700, -38)


def pizza(canvas: Canvas, *, topping: str, white: bool = False) -> None:
    """A pizza on its board: salami, tomato or olive, on tomatoes or on cream."""
    lay(canvas)
    x, y = canvas.middle
    wood = canvas.chance.choice(WOODS[:3])
    board = [*round_shape(x, y, 410, 410)]
    canvas.shadow(board, soft=30)
    canvas.shape(box(x + 430, y + 250, 300, 96, 30, 40), darker(wood, 0.1))
    canvas.disc(x, y, 410, darker(wood, 0.12))
    canvas.disc(x - 3, y - 6, 404, wood)
    crust = canvas.wavy(x, y, 352, rough=0.012)
    canvas.shadow(crust, soft=12, fall=(6, 12))
    canvas.shape(crust, (206, 142, 78))
    canvas.shape(canvas.wavy(x - 3, y - 5, 340, rough=0.012), (228, 172, 104))
    for number in range(22):
        there = around(x, y, 322, number * 16.4 + canvas.chance.uniform(-4, 4))
        canvas.disc(*there, canvas.chance.uniform(5, 17), (168, 96, 52), alpha=150)
    canvas.shape(canvas.wavy(x, y, 298, rough=0.015), (236, 214, 160) if white else (200, 66, 40))
    canvas.shape(canvas.wavy(x, y, 284, rough=0.02), (248, 222, 164) if white else (222, 98, 58))
    for spot in scattered(canvas, x, y, 250, 16):
        canvas.blob(spot[0], spot[1], canvas.chance.uniform(38, 62), (250, 226, 158), rough=0.12)
        canvas.blob(spot[0] - 6, spot[1] - 8, 24, (255, 242, 204), rough=0.15)
    for spot in scattered(canvas, x, y, 246, 11):
        if topping == "salami":
            canvas.disc(spot[0] + 3, spot[1] + 6, 40, (120, 30, 20), alpha=110)
            canvas.disc(spot[0], spot[1], 40, (178, 46, 40))
            canvas.disc(spot[0] - 2, spot[1] - 3, 34, (204, 74, 60))
            for angle in (20, 140, 260):
                canvas.disc(*around(spot[0], spot[1], 17, angle + spot[2]), 5, (236, 150, 126))
        elif topping == "tomato":
            tomato(canvas, spot[0], spot[1], 34)
        else:
            canvas.ring(spot[0], spot[1], 21, 12, (48, 44, 56))
            canvas.blob(spot[0] + 44, spot[1] + 16, 26, (196, 158, 122), rough=0.12)
    for spot in scattered(canvas, x, y, 210, 6):
        leaf(canvas, spot[0], spot[1], 40, spot[2], canvas.chance.choice(GREENS[:3]))
    cut = canvas.chance.uniform(0, 45)
    for number in range(4):
        ends = [around(x, y, reach, cut + number * 45) for reach in (-356, 356)]
        canvas.line(ends, 5, (140, 78, 44), alpha=150)


def salad(canvas: Canvas) -> None:
    """Leaves, tomatoes, cucumber and cheese."""
    lay(canvas)
    x, y = canvas.middle
    cutlery(canvas, 345)
    plate(canvas, x, y, 345)
    canvas.shadow(canvas.wavy(x, y, 215, rough=0.05), soft=16, fall=(6, 14), strength=90)
    for reach, count in ((230, 20), (150, 12)):
        for spot in scattered(canvas, x, y, reach, count):
            leaf(canvas, spot[0], spot[1], canvas.chance.uniform(58, 88), spot[2], canvas.chance.choice(GREENS))
    for spot in scattered(canvas, x, y, 195, 8):
        tomato(canvas, spot[0], spot[1], canvas.chance.uniform(28, 40))
    for spot in scattered(canvas, x + 10, y - 10, 190, 6):
        canvas.disc(spot[0], spot[1], 40, (74, 124, 72))
        canvas.disc(spot[0], spot[1], 34, (214, 234, 178))
        canvas.ring(spot[0], spot[1], 18, 5, (170, 204, 134))
    for spot in scattered(canvas, x, y + 8, 170, 9):
        cube = box(spot[0], spot[1], 38, 34, spot[2], 5)
        canvas.shadow(cube, soft=5, fall=(4, 7), strength=90)
        canvas.shape(cube, (252, 248, 238))
    for spot in scattered(canvas, x, y, 200, 7):
        canvas.ring(spot[0], spot[1], 24, 5, (170, 92, 140))


def fillet(canvas: Canvas, *, steak: bool) -> None:
    """A fillet of salmon, or a steak, with vegetables and a sauce."""
    lay(canvas)
    x, y = canvas.middle
    cutlery(canvas, 350)
    plate(canvas, x, y, 350)
    sauce = canvas.chance.choice([(236, 196, 92), (150, 178, 90), (190, 92, 62), (240, 226, 196)])
    canvas.blob(x + 20, y + 40, 190, sauce, rough=0.12)
    canvas.blob(x + 8, y + 26, 130, lighter(sauce, 0.25), rough=0.12)
    for number in range(6):
        stem = box(x - 40 + number * 8, y - 110 + number * 34, 340, 20, -14 + number * 4, 10)
        canvas.shape(stem, GREENS[number % 3])
        tip = around(x - 40 + number * 8, y - 110 + number * 34, 165, -14 + number * 4)
        canvas.shape(round_shape(*tip, 34, 14, -14 + number * 4, 24), darker(GREENS[number % 3], 0.25))
    flesh = (150, 82, 62) if steak else (240, 138, 98)
    body = box(x + 10, y + 30, 350, 160, -24, 72)
    canvas.shadow(body, soft=14, fall=(8, 16), strength=130)
    canvas.shape(body, darker(flesh, 0.28))
    canvas.shape(box(x + 6, y + 22, 338, 144, -24, 66), flesh)
    for number in range(-3, 4):
        middle = around(x + 6, y + 22, number * 44, -24)
        ends = [around(*middle, reach, 50 if steak else 80) for reach in (-60, 60)]
        canvas.line(ends, 10 if steak else 6, darker(flesh, 0.4) if steak else lighter(flesh, 0.45), alpha=190)
    for number in range(5):
        there = around(x, y, 215, 70 + number * 26)
        canvas.disc(there[0] + 3, there[1] + 7, 38, (90, 60, 30), alpha=90)
        canvas.blob(*there, 38, (232, 192, 110), rough=0.06)
        canvas.blob(there[0] - 6, there[1] - 8, 22, (246, 216, 146), rough=0.06)
    citrus(canvas, x + 190, y - 150, 62)
    for number in range(7):
        canvas.disc(*around(x, y, 248, 290 + number * 14), 17 - number * 2, sauce)
    for spot in scattered(canvas, x + 10, y + 20, 130, 9):
        leaf(canvas, spot[0], spot[1], 15, spot[2], GREENS[0])


def pasta(canvas: Canvas, *, sauce: Color) -> None:
    """A nest of spaghetti with a sauce and basil."""
    lay(canvas)
    x, y = canvas.middle
    cutlery(canvas, 350)
    plate(canvas, x, y, 350)
    yellow = (244, 204, 112)
    canvas.shadow(round_shape(x, y, 215, 215), soft=18, fall=(6, 14), strength=100)
    canvas.shape(canvas.wavy(x, y, 218, rough=0.03), darker(yellow, 0.3))
    for number in range(64):
        there = around(x, y, canvas.chance.uniform(0, 95), canvas.chance.uniform(0, 360))
        reach = canvas.chance.uniform(45, 218 - 95)
        begins = canvas.chance.uniform(0, 360)
        tone = mixed(darker(yellow, 0.22), lighter(yellow, 0.35), number / 64)
        canvas.arc(*there, reach, (begins, begins + canvas.chance.uniform(120, 260)), 10, tone)
    canvas.blob(x, y - 6, 112, darker(sauce, 0.2), rough=0.14)
    canvas.blob(x - 6, y - 14, 94, sauce, rough=0.16)
    for spot in scattered(canvas, x, y - 8, 86, 9):
        canvas.blob(spot[0], spot[1], canvas.chance.uniform(10, 24), lighter(sauce, 0.2), rough=0.15)
    for spot in scattered(canvas, x, y, 190, 26):
        canvas.shape(box(spot[0], spot[1], 22, 7, spot[2], 2), (255, 248, 224))
    for turned in (20, 140, 265):
        leaf(canvas, *around(x, y - 12, 34, turned), 48, turned, BASIL)


def curry(canvas: Canvas, *, sauce: Color) -> None:
    """Rice and curry in one bowl, with bread."""
    lay(canvas)
    x, y = canvas.middle
    bread = canvas.wavy(x + 330, y + 170, 220, rough=0.07)
    canvas.shadow(bread, soft=16)
    canvas.shape(bread, (226, 180, 116))
    canvas.shape(canvas.wavy(x + 325, y + 164, 205, rough=0.07), (244, 210, 152))
    for spot in scattered(canvas, x + 330, y + 170, 190, 13):
        canvas.blob(spot[0], spot[1], canvas.chance.uniform(8, 24), (186, 122, 66), rough=0.15)
    bowl(canvas, x - 70, y - 10, 350, canvas.chance.choice([*CROCKERY, (186, 110, 62), (46, 92, 104)]), sauce)
    left, top = x - 67, y - 2
    rice = [around(left, top, 296, angle) for angle in range(100, 285, 6)]
    canvas.shape([*rice, (left - 10, top - 180), (left + 30, top - 40), (left - 24, top + 120)], (250, 246, 234))
    for spot in scattered(canvas, left - 130, top, 130, 46):
        canvas.shape(round_shape(spot[0], spot[1], 12, 5, spot[2], 12), (232, 224, 204))
    for number in range(8):
        there = around(left + 140, top + 10, canvas.chance.uniform(20, 135), number * 45)
        canvas.blob(there[0] + 3, there[1] + 6, 42, darker(sauce, 0.35), rough=0.12)
        canvas.blob(*there, 40, mixed((236, 190, 120), sauce, 0.35), rough=0.12)
    canvas.arc(left + 150, top + 10, 96, (20, 300), 13, (255, 244, 224))
    canvas.arc(left + 150, top + 10, 56, (120, 420), 10, (255, 244, 224))
    for spot in scattered(canvas, left + 60, top, 170, 12):
        leaf(canvas, spot[0], spot[1], 24, spot[2], canvas.chance.choice(GREENS[:3]))


PLATED: dict[str, Scene] = {
    "ramen": ramen,
    "salami pizza": partial(pizza, topping="salami"),
    "tomato pizza": partial(pizza, topping="tomato"),
    "olive pizza": partial(pizza, topping="olive"),
    "white pizza": partial(pizza, topping="tomato", white=True),
    "salad": salad,
    "salmon": partial(fillet, steak=False),
    "steak": partial(fillet, steak=True),
    "red pasta": partial(pasta, sauce=(196, 58, 38)),
    "green pasta": partial(pasta, sauce=(96, 138, 62)),
    "white pasta": partial(pasta, sauce=(246, 232, 200)),
    "orange curry": partial(curry, sauce=(224, 132, 40)),
    "red curry": partial(curry, sauce=(196, 84, 40)),
    "green curry": partial(curry, sauce=(120, 146, 62)),
    "yellow curry": partial(curry, sauce=(230, 170, 62)),
}
