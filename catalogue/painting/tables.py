"""What dishes stand on: cloths, wood and stone seen from above, with cutlery and plates."""

from catalogue.painting.canvas import WIDTH, Canvas, Color, box, darker, lighter, mixed, round_shape

CLOTHS: list[tuple[Color, Color]] = [
    ((244, 238, 226), (201, 84, 72)),
    ((238, 242, 240), (86, 132, 156)),
    ((250, 240, 218), (222, 164, 62)),
    ((232, 240, 226), (104, 142, 98)),
    ((246, 230, 228), (196, 120, 136)),
    ((226, 228, 238), (92, 96, 150)),
    ((58, 72, 84), (94, 112, 122)),
    ((46, 78, 72), (78, 116, 104)),
    ((240, 206, 178), (214, 140, 104)),
]
WOODS: list[Color] = [(196, 150, 104), (150, 104, 72), (224, 198, 164), (104, 74, 58), (180, 132, 96), (92, 84, 80)]
STONES: list[Color] = [(232, 230, 226), (72, 78, 84), (214, 222, 222), (240, 228, 216)]
CROCKERY: list[Color] = [
    (250, 248, 242),
    (244, 240, 230),
    (226, 234, 236),
    (62, 70, 78),
    (240, 222, 206),
    (206, 222, 214),
]


def lay(canvas: Canvas) -> None:
    """Cover the picture with a table."""
    canvas.chance.choice([gingham, stripes, planks, planks, stone, dots, plain])(canvas)


def gingham(canvas: Canvas) -> None:
    """Checks of two colours, woven."""
    ground, woven = canvas.chance.choice(CLOTHS)
    step = canvas.chance.choice([60, 80, 100])
    canvas.slab(0, 0, WIDTH, canvas.height, ground)
    for number in range(0, int(WIDTH / step) + 1, 2):
        canvas.slab(number * step, 0, (number + 1) * step, canvas.height, woven, alpha=105)
    for number in range(0, int(canvas.height / step) + 1, 2):
        canvas.slab(0, number * step, WIDTH, (number + 1) * step, woven, alpha=105)


def stripes(canvas: Canvas) -> None:
    """A cloth with a few bands."""
    ground, woven = canvas.chance.choice(CLOTHS)
    canvas.slab(0, 0, WIDTH, canvas.height, ground)
    step = canvas.chance.choice([96, 140, 200])
    for number in range(-8, int(WIDTH / step) + 2):
        left, lean = number * step, canvas.height * 0.6
        band = [
            (left, 0),
            (left + step * 0.34, 0),
            (left + step * 0.34 + lean, canvas.height),
            (left + lean, canvas.height),
        ]
        canvas.shape(band, woven, alpha=150)


def dots(canvas: Canvas) -> None:
    """A cloth with small dots."""
    ground, woven = canvas.chance.choice(CLOTHS)
    canvas.slab(0, 0, WIDTH, canvas.height, ground)
    for row in range(int(canvas.height / 60) + 2):
        for column in range(int(WIDTH / 60) + 2):
            canvas.disc(column * 60 + (row % 2) * 30, row * 60, 7, woven, alpha=170)


def plain(canvas: Canvas) -> None:
    """Linen with a runner."""
    ground, woven = canvas.chance.choice(CLOTHS)
    canvas.slab(0, 0, WIDTH, canvas.height, lighter(woven, 0.15))
    runner = box(WIDTH / 2, canvas.height / 2, WIDTH * 0.62, canvas.height * 1.5, canvas.chance.uniform(-12, 12))
    canvas.shadow(runner, soft=10, fall=(4, 6), strength=60)
    canvas.shape(runner, ground)


def planks(canvas: Canvas) -> None:
    """Boards with their grain."""
    wood = canvas.chance.choice(WOODS)
    high = canvas.height / canvas.chance.choice([4, 5, 6])
    top = 0.0
    while top < canvas.height:
        tone = mixed(wood, lighter(wood), canvas.chance.uniform(0, 0.6))
        canvas.slab(0, top, WIDTH, top + high, tone)
        for _ in range(4):
            y, begins = top + canvas.chance.uniform(0.12, 0.88) * high, canvas.chance.uniform(-200, 900)
            canvas.line([(begins, y), (begins + canvas.chance.uniform(200, 700), y + 3)], 4, darker(tone), alpha=70)
        canvas.slab(0, top, WIDTH, top + 4, darker(wood, 0.5))
        joint = canvas.chance.uniform(100, 1100)
        canvas.slab(joint, top, joint + 4, top + high, darker(wood, 0.45))
        top += high


def stone(canvas: Canvas) -> None:
    """Terrazzo or slate."""
    ground = canvas.chance.choice(STONES)
    canvas.slab(0, 0, WIDTH, canvas.height, ground)
    flecks = [mixed(ground, color, 0.5) for _, color in CLOTHS[:6]] + [darker(ground, 0.2), lighter(ground, 0.3)]
    for _ in range(110):
        x, y = canvas.chance.uniform(0, WIDTH), canvas.chance.uniform(0, canvas.height)
        size = canvas.chance.uniform(5, 16)
        fleck = round_shape(x, y, size, size * 0.6, canvas.chance.uniform(0, 180), steps=6)
        canvas.shape(fleck, canvas.chance.choice(flecks), alpha=170)


def plate(canvas: Canvas, x: float, y: float, radius: float) -> Color:
    """A plate with its rim; its colour."""
    color = canvas.chance.choice(CROCKERY)
    canvas.shadow(round_shape(x, y, radius, radius))
    canvas.disc(x, y, radius, darker(color, 0.1))
    canvas.disc(x - 3, y - 5, radius * 0.985, color)
    if canvas.chance.random() < 0.5:
        canvas.ring(x - 3, y - 5, radius * 0.94, 7, canvas.chance.choice(CLOTHS)[1])
    canvas.disc(x, y, radius * 0.74, darker(color, 0.09))
    canvas.disc(x + 2, y + 5, radius * 0.73, lighter(color, 0.3))
    return color


def bowl(canvas: Canvas, x: float, y: float, radius: float, color: Color, filled: Color) -> None:
    """A bowl that is filled to a little below its rim."""
    canvas.shadow(round_shape(x, y, radius, radius), soft=32, fall=(18, 32))
    canvas.disc(x, y, radius, darker(color, 0.25))
    canvas.disc(x - 3, y - 5, radius * 0.985, color)
    canvas.disc(x, y, radius * 0.9, darker(color, 0.45))
    canvas.disc(x + 3, y + 8, radius * 0.87, filled)
    canvas.arc(x, y, radius * 0.96, (190, 260), 7, lighter(color, 0.6), alpha=160)


def cutlery(canvas: Canvas, radius: float) -> None:
    """A fork and a knife beside the plate, or chopsticks; sometimes a napkin."""
    x, y = canvas.middle
    metal = canvas.chance.choice([(206, 208, 212), (214, 178, 106), (92, 92, 98)])
    left, right = x - radius - 90, x + radius + 90
    if canvas.chance.random() < 0.6:
        napkin = box(left, y, 150, 420, canvas.chance.uniform(-6, 6), 8)
        canvas.shadow(napkin, soft=10, fall=(6, 9), strength=70)
        canvas.shape(napkin, canvas.chance.choice(CLOTHS)[1])
    for outline in (box(left, y + 80, 17, 300, 0, 9), box(right, y, 19, 430, 0, 9)):
        canvas.shadow(outline, soft=7, fall=(6, 9), strength=100)
    canvas.shape(box(left, y + 80, 17, 300, 0, 9), metal)
    canvas.shape(box(left, y - 80, 56, 90, 0, 26), metal)
    for tine in (-21, -7, 7, 21):
        canvas.shape(box(left + tine, y - 145, 9, 110, 0, 5), metal)
    canvas.shape(box(right, y + 90, 19, 250, 0, 9), metal)
    canvas.shape(
        [(right - 9, y - 30), (right + 10, y - 30), (right + 16, y - 180), (right - 2, y - 225), (right - 9, y - 190)],
        metal,
    )


def chopsticks(canvas: Canvas, x: float, y: float, length: float, turned: float) -> None:
    """A pair of them."""
    color = canvas.chance.choice([(158, 62, 48), (72, 52, 46), (206, 166, 112), (40, 44, 52)])
    for apart in (-15, 15):
        stick = box(x, y + apart, length, 13, turned + apart / 10, 6)
        canvas.shadow(stick, soft=8, fall=(8, 14), strength=110)
        canvas.shape(stick, color)
        canvas.shape(box(x, y + apart - 3, length * 0.98, 3, turned + apart / 10), lighter(color, 0.3))
