"""What is eaten by hand or in bites, seen from above."""

from catalogue.painting.canvas import Canvas, Scene, box, darker, lighter, mixed, round_shape
from catalogue.painting.dishes import GREENS, PLATED, around, citrus, leaf, scattered, tomato
from catalogue.painting.tables import CROCKERY, WOODS, bowl, chopsticks, lay, plate


def sushi(canvas: Canvas) -> None:
    """Nigiri and maki on a slate."""
    lay(canvas)
    x, y = canvas.middle
    slate = box(x, y, 900, 520, -4, 18)
    canvas.shadow(slate, soft=28)
    ground = canvas.chance.choice([(58, 62, 68), (124, 84, 58), (236, 232, 224), (40, 66, 72)])
    canvas.shape(slate, darker(ground, 0.25))
    canvas.shape(box(x - 2, y - 6, 892, 508, -4, 16), ground)
    for number in range(4):
        there = (x - 300 + number * 170, y - 120 - number * 12)
        rice = box(*there, 110, 190, 14, 52)
        canvas.shadow(rice, soft=9, fall=(8, 13), strength=140)
        canvas.shape(rice, (250, 248, 242))
        fish_color = [(244, 132, 84), (206, 62, 70), (248, 226, 208), (244, 168, 120)][number]
        canvas.shape(box(there[0], there[1] - 6, 118, 180, 14, 50), fish_color)
        for stripe in (-52, -18, 16, 50):
            at = around(there[0], there[1] - 6, stripe, 104)
            canvas.line([around(*at, -40, -8), around(*at, 40, -8)], 6, lighter(fish_color, 0.5), alpha=170)
        if number == 3:
            canvas.shape(box(there[0], there[1], 126, 36, 14, 6), (36, 48, 44))
    for number in range(5):
        there = (x - 310 + number * 132, y + 120 - number * 9)
        canvas.shadow(round_shape(*there, 56, 56), soft=8, fall=(7, 12), strength=140)
        canvas.disc(*there, 58, (32, 44, 40))
        canvas.disc(*there, 49, (250, 248, 242))
        canvas.disc(
            *there, 23, [(244, 132, 84), (120, 168, 84), (206, 62, 70), (246, 208, 82), (244, 132, 84)][number]
        )
        canvas.disc(there[0] - 5, there[1] - 6, 8, (255, 255, 255), alpha=90)
    canvas.blob(x + 350, y - 130, 46, (150, 184, 92), rough=0.1)
    canvas.blob(x + 344, y - 140, 26, (176, 206, 120), rough=0.1)
    for number in range(4):
        canvas.shape(
            canvas.wavy(x + 340 + number * 18, y + 40 - number * 12, 42, rough=0.12),
            mixed((248, 196, 190), (240, 160, 158), number / 4),
        )
    chopsticks(canvas, x - 20, y + 330, 760, -5)


def tacos(canvas: Canvas) -> None:
    """Three tacos side by side."""
    lay(canvas)
    x, y = canvas.middle
    board = box(x, y, 980, 560, 3, 60)
    canvas.shadow(board, soft=28)
    wood = canvas.chance.choice([*WOODS[:3], *CROCKERY[:3]])
    canvas.shape(board, darker(wood, 0.15))
    canvas.shape(box(x - 2, y - 6, 972, 548, 3, 56), wood)
    for number in range(3):
        left, top = x - 280 + number * 280, y + 30
        shell = round_shape(left, top, 138, 218, 8)
        canvas.shadow(shell, soft=14, fall=(10, 16), strength=130)
        canvas.shape(shell, (216, 164, 92))
        canvas.shape(round_shape(left - 4, top - 4, 130, 210, 8), (240, 200, 128))
        for spot in scattered(canvas, left, top, 150, 9):
            canvas.disc(
                left + (spot[0] - left) * 0.75, spot[1], canvas.chance.uniform(6, 12), (206, 146, 80), alpha=140
            )
        for part in range(9):
            at = (left + canvas.chance.uniform(-44, 44), top - 160 + part * 40)
            leaf(canvas, *at, 42, canvas.chance.uniform(-40, 220), canvas.chance.choice(GREENS))
        meat = canvas.chance.choice([(142, 82, 54), (190, 104, 60), (238, 186, 132)])
        for part in range(8):
            canvas.blob(
                left + canvas.chance.uniform(-30, 30),
                top - 140 + part * 40,
                34,
                mixed(meat, darker(meat), canvas.chance.random()),
                rough=0.16,
            )
        for part in range(6):
            tomato(canvas, left + canvas.chance.uniform(-40, 40), top - 130 + part * 54, 19)
            canvas.ring(left + canvas.chance.uniform(-44, 44), top - 150 + part * 56, 22, 5, (182, 92, 150))
        canvas.line(
            [(left - 16, top - 120), (left + 26, top - 40), (left - 22, top + 30), (left + 22, top + 120)],
            9,
            (252, 246, 236),
        )
    for place in ((x - 420, y - 200), (x + 425, y + 195)):
        citrus(canvas, *place, 54, (164, 204, 84))


def tart(canvas: Canvas) -> None:
    """A fruit tart, berries in rings."""
    lay(canvas)
    x, y = canvas.middle
    plate(canvas, x, y, 390)
    crust = [around(x, y, 300 + (14 if number % 2 else -4), number * 5) for number in range(72)]
    canvas.shadow(crust, soft=16, fall=(8, 16), strength=120)
    canvas.shape(crust, (198, 136, 76))
    canvas.disc(x - 2, y - 4, 286, (226, 170, 104))
    canvas.disc(x, y, 266, canvas.chance.choice([(252, 236, 186), (110, 62, 46), (250, 240, 226)]))
    fruits = canvas.chance.sample(
        [(204, 48, 66), (74, 78, 140), (240, 154, 52), (150, 190, 80), (170, 44, 98), (248, 214, 96)], 3
    )
    for ring, (reach, count, size) in enumerate(((220, 22, 36), (146, 14, 36), (70, 7, 34))):
        for number in range(count):
            there = around(x, y, reach, number * 360 / count + ring * 8)
            canvas.disc(there[0] + 3, there[1] + 6, size, (70, 30, 20), alpha=100)
            canvas.disc(*there, size - 3, darker(fruits[ring], 0.12))
            canvas.disc(there[0] - 4, there[1] - 5, size * 0.66, fruits[ring])
            canvas.disc(there[0] - 10, there[1] - 12, 7, lighter(fruits[ring], 0.75), alpha=220)
    canvas.disc(x, y, 30, fruits[0])
    for turned in (30, 150, 270):
        leaf(canvas, *around(x, y, 26, turned), 34, turned, (110, 172, 96))
    for _ in range(26):
        there = around(x, y, canvas.chance.uniform(300, 372), canvas.chance.uniform(0, 360))
        canvas.disc(*there, canvas.chance.uniform(2, 5), (255, 255, 255), alpha=190)


def dumplings(canvas: Canvas) -> None:
    """Dumplings in a steamer of bamboo."""
    lay(canvas)
    x, y = canvas.middle
    canvas.shadow(round_shape(x, y, 372, 372), soft=32, fall=(18, 30))
    canvas.disc(x, y, 372, (168, 120, 70))
    canvas.disc(x - 3, y - 5, 366, (214, 166, 106))
    for number in range(36):
        ends = [around(x, y, reach, number * 10) for reach in (330, 364)]
        canvas.line(ends, 4, (176, 126, 74))
    canvas.disc(x, y, 322, (150, 104, 62))
    canvas.disc(x + 2, y + 6, 316, (232, 204, 152))
    for number in range(-5, 6):
        half = (316**2 - (number * 56) ** 2) ** 0.5
        canvas.slab(x + number * 56 - 3, y - half + 6, x + number * 56 + 3, y + half, (206, 172, 116))
    dough = canvas.chance.choice([(252, 244, 226), (246, 232, 200), (220, 232, 196)])
    places = [(x, y), *(around(x, y, 198, 60 * number + 20) for number in range(6))]
    for there in places:
        canvas.shadow(round_shape(*there, 84, 84), soft=11, fall=(8, 14), strength=130)
        canvas.shape(canvas.wavy(*there, 86, rough=0.015), darker(dough, 0.14))
        canvas.shape(canvas.wavy(there[0] - 4, there[1] - 6, 79, rough=0.015), dough)
        for number in range(12):
            ends = [
                around(there[0] - 4, there[1] - 6, reach, number * 30 + shift) for reach, shift in ((16, 24), (64, 0))
            ]
            canvas.line(ends, 5, darker(dough, 0.2), alpha=150)
        canvas.disc(there[0] - 4, there[1] - 6, 15, darker(dough, 0.18))
    sauce = (x + 440, y - 260)
    bowl(canvas, *sauce, 120, canvas.chance.choice(CROCKERY), (96, 48, 36))
    for number in range(5):
        canvas.disc(*around(*sauce, 50, number * 72), 9, (206, 70, 46), alpha=220)
    chopsticks(canvas, x - 430, y + 60, 700, 82)


def burger(canvas: Canvas) -> None:
    """A burger from above and a bowl of chips."""
    lay(canvas)
    x, y = canvas.middle
    paper = box(x - 130, y, 640, 640, 8, 14)
    canvas.shadow(paper, soft=14, fall=(6, 12), strength=90)
    canvas.shape(paper, (240, 232, 214))
    left = x - 140
    for number in range(14):
        leaf(canvas, *around(left, y, 232, number * 25.7), 62, number * 25.7 + 60, GREENS[number % 4])
    canvas.shape([around(left, y, 268, angle) for angle in (40, 130, 220, 310)], (248, 190, 66))
    for number in range(5):
        tomato(canvas, *around(left, y, 216, number * 72 + 20), 46)
    canvas.shadow(round_shape(left, y, 226, 226), soft=18, fall=(10, 18), strength=130)
    canvas.disc(left, y, 228, (176, 104, 50))
    canvas.disc(left - 6, y - 10, 210, (214, 142, 74))
    canvas.disc(left - 22, y - 34, 146, (230, 166, 98))
    for spot in scattered(canvas, left - 8, y - 12, 186, 42):
        canvas.shape(round_shape(spot[0], spot[1], 11, 6, spot[2], 14), (252, 236, 196))
    bowl(canvas, x + 340, y + 10, 190, canvas.chance.choice(CROCKERY), (120, 84, 60))
    for _ in range(26):
        there = around(x + 340, y + 16, canvas.chance.uniform(0, 110), canvas.chance.uniform(0, 360))
        chip = box(*there, canvas.chance.uniform(120, 190), 25, canvas.chance.uniform(0, 180), 4)
        canvas.shape(chip, mixed((240, 188, 84), (250, 216, 128), canvas.chance.random()))
    bowl(canvas, x + 350, y - 290, 92, canvas.chance.choice(CROCKERY), (196, 44, 36))


DISHES: dict[str, Scene] = {
    **PLATED,
    "sushi": sushi,
    "tacos": tacos,
    "tart": tart,
    "dumplings": dumplings,
    "burger": burger,
}
