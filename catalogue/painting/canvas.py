"""What pictures are painted on: plain shapes with soft shadows, larger than they come out.

Positions and lengths are in units of which a picture is 1200 wide, from its upper left corner, y downwards; angles are
in degrees, clockwise from the right.
"""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, cos, pi, radians, sin
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

WIDTH = 1200.0
# Shapes are drawn so much larger and brought down, which makes their edges smooth: of small pictures each pixel
# counts, of large ones the time.
SUPERSAMPLED = {"small": 3.0, "large": 1.5}
SMALL = 600
# Shadows are soft, so few pixels are enough for them.
COARSE = 8

Color = tuple[int, int, int]
Point = tuple[float, float]


def mixed(one: Color, other: Color, share: float) -> Color:
    """A colour between two: 0 is the one, 1 the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def darker(color: Color, share: float = 0.15) -> Color:
    """The colour nearer to a warm black."""
    return mixed(color, (30, 18, 20), share)


def lighter(color: Color, share: float = 0.2) -> Color:
    """The colour nearer to a warm white."""
    return mixed(color, (255, 250, 240), share)


def round_shape(x: float, y: float, width: float, height: float, turned: float = 0, steps: int = 48) -> list[Point]:
    """The outline of an ellipse of half axes `width` and `height` that is turned."""
    c, s = cos(radians(turned)), sin(radians(turned))
    outline = []
    for step in range(steps):
        across, down = width * cos(2 * pi * step / steps), height * sin(2 * pi * step / steps)
        outline.append((x + across * c - down * s, y + across * s + down * c))
    return outline


def box(x: float, y: float, width: float, height: float, turned: float = 0, corner: float = 0) -> list[Point]:
    """The outline of a rectangle around its middle, its corners rounded, turned."""
    c, s = cos(radians(turned)), sin(radians(turned))
    w, h, corner = width / 2, height / 2, min(corner, width / 2, height / 2)
    flat: list[Point] = [
        (right * (w - corner) + corner * cos(radians(angle)), below * (h - corner) + corner * sin(radians(angle)))
        for right, below, begins in ((1, 1, 0), (-1, 1, 90), (-1, -1, 180), (1, -1, 270))
        for angle in (range(begins, begins + 91, 15) if corner else (begins,))
    ]
    return [(x + across * c - down * s, y + across * s + down * c) for across, down in flat]


class Canvas:
    """A picture while it is painted."""

    def __init__(self, width: int, height: int, color: Color, chance: Random) -> None:
        self.size = (width, height)
        scale = SUPERSAMPLED["small" if width <= SMALL else "large"]
        self.unit = width * scale / WIDTH
        self.height = height * WIDTH / width
        self.middle = (WIDTH / 2, self.height / 2)
        self.chance = chance
        self.image = Image.new("RGB", (round(width * scale), round(height * scale)), color)
        self.pen = ImageDraw.Draw(self.image, "RGBA")
        # Of one room all lamps are alike.
        self.lamps_are_domes = chance.random() < 0.5

    def shape(self, outline: Iterable[Point], color: Color, *, alpha: int = 255) -> None:
        """Fill an outline."""
        self.pen.polygon([(x * self.unit, y * self.unit) for x, y in outline], fill=(*color, alpha))

    def disc(self, x: float, y: float, radius: float, color: Color, *, alpha: int = 255) -> None:
        """A filled circle."""
        self.oval(x, y, radius, radius, color, alpha=alpha)

    def oval(self, x: float, y: float, width: float, height: float, color: Color, *, alpha: int = 255) -> None:
        """A filled ellipse of these half axes."""
        unit = self.unit
        edges = ((x - width) * unit, (y - height) * unit, (x + width) * unit, (y + height) * unit)
        self.pen.ellipse(edges, fill=(*color, alpha))

    def ring(self, x: float, y: float, radius: float, thickness: float, color: Color, *, alpha: int = 255) -> None:
        """A circle's line, inside of the radius."""
        unit = self.unit
        edges = ((x - radius) * unit, (y - radius) * unit, (x + radius) * unit, (y + radius) * unit)
        self.pen.ellipse(edges, outline=(*color, alpha), width=max(1, round(thickness * unit)))

    def arc(
        self,
        x: float,
        y: float,
        radius: float,
        span: tuple[float, float],
        thickness: float,
        color: Color,
        *,
        alpha: int = 255,
    ) -> None:
        """A part of a circle's line, from one angle to another."""
        unit = self.unit
        edges = ((x - radius) * unit, (y - radius) * unit, (x + radius) * unit, (y + radius) * unit)
        self.pen.arc(edges, *span, fill=(*color, alpha), width=max(1, round(thickness * unit)))

    def slab(self, left: float, top: float, right: float, bottom: float, color: Color, *, alpha: int = 255) -> None:
        """A filled rectangle."""
        unit = self.unit
        self.pen.rectangle((left * unit, top * unit, right * unit, bottom * unit), fill=(*color, alpha))

    def line(self, points: Sequence[Point], thickness: float, color: Color, *, alpha: int = 255) -> None:
        """A line with round ends."""
        unit = self.unit
        scaled = [(x * unit, y * unit) for x, y in points]
        self.pen.line(scaled, fill=(*color, alpha), width=max(1, round(thickness * unit)), joint="curve")
        if alpha == 255:
            for x, y in (points[0], points[-1]):
                self.disc(x, y, thickness / 2, color)

    def blob(self, x: float, y: float, radius: float, color: Color, *, rough: float = 0.08) -> None:
        """Something nearly round."""
        self.shape(self.wavy(x, y, radius, rough=rough), color)

    def wavy(self, x: float, y: float, radius: float, *, rough: float) -> list[Point]:
        """The outline of something nearly round."""
        shifts = [self.chance.uniform(0, 2 * pi) for _ in range(3)]
        outline = []
        for step in range(60):
            angle = 2 * pi * step / 60
            waves = sum(cos((2 + n) * angle + shift) / (1 + n) for n, shift in enumerate(shifts))
            reach = radius * (1 + rough * waves)
            outline.append((x + reach * cos(angle), y + reach * sin(angle)))
        return outline

    def shadow(
        self, outline: Iterable[Point], *, soft: float = 26, fall: Point = (14, 24), strength: int = 110
    ) -> None:
        """The shadow of an outline on what is painted so far."""
        fine = self.unit / COARSE
        points = [((x + fall[0]) * fine, (y + fall[1]) * fine) for x, y in outline]
        reach = ceil(soft * fine * 3) + 1
        left, top = (int(min(p[axis] for p in points)) - reach for axis in (0, 1))
        right, bottom = (int(max(p[axis] for p in points)) + reach for axis in (0, 1))
        left, top = max(left, 0), max(top, 0)
        right = min(right, ceil(self.image.width / COARSE))
        bottom = min(bottom, ceil(self.image.height / COARSE))
        if right <= left or bottom <= top:
            return
        mask = Image.new("L", (right - left, bottom - top))
        ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in points], fill=strength)
        mask = mask.filter(ImageFilter.GaussianBlur(soft * fine))
        mask = mask.resize((mask.width * COARSE, mask.height * COARSE), Image.Resampling.BILINEAR)
        self.image.paste((34, 20, 24), (left * COARSE, top * COARSE), mask)

    def finished(self, *, light: Point = (0.3, 0.15), depth: float = 0.28) -> Image.Image:
        """The picture in its size, under a lamp that stands at these shares of width and height."""
        picture = self.image.resize(self.size, Image.Resampling.HAMMING)
        wide, high = 32, 24
        lamp = Image.new("L", (wide, high))
        lamp.putdata(
            [
                round(255 * (1 - depth * min(1.0, ((x / wide - light[0]) ** 2 + (y / high - light[1]) ** 2) / 0.9)))
                for y in range(high)
                for x in range(wide)
            ]
        )
        lamp = lamp.resize(self.size, Image.Resampling.BICUBIC)
        return ImageChops.multiply(picture, Image.merge("RGB", (lamp, lamp, lamp)))


Scene = Callable[[Canvas], None]
