"""The map of a page: an SVG of our own data, the districts, landmarks and restaurants, without map tiles."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, hypot, log10, radians

from catalogue.models import Landmark
from catalogue.search.geocoding.distance import Location, project_mercator
from framework.db import prepared_statements

# Width and height of the SVG in its units; a page shows one as 0.9 to 1.4 pixels.
SIZE = 400.0
# The pins keep this distance from the border.
MARGIN = 34.0
# The least and greatest width of the ground. Hits that are farther apart lie in several cities.
MIN_WIDTH_M, MAX_WIDTH_M = 700.0, 40_000.0
MAX_DISTRICTS, MAX_SIGHTS = 20, 60
PIN_RADIUS = 11.0
# Pins that are nearer to each other are moved apart, so that each number can be read; in so many rounds at most.
PIN_GAP, MAX_ROUNDS = 20.0, 30
FONT_SIZE = 11.0
# Names of districts are in capitals with space between them.
CAPITALS_SIZE = 1.35 * FONT_SIZE
# Of a character, in heights; ideographs are as wide as high.
CHARACTER_WIDTH, WIDE_CHARACTER_WIDTH = 0.56, 1.02
MAX_NAME_LENGTH = 30
# How many grid squares fit into the width, at most.
MAX_SQUARES = 6
# Where the name of a district may stand, from its middle.
NAME_SHIFTS = (4, -18, 26, -32, 40, -46, 54)
# Districts are coloured in turn.
TINTS = 4

# Districts also from around the map, because one whose centre is outside may reach into it.
AROUND = """
SELECT r.name, r.kind, r.latitude, r.longitude, r.source_id FROM catalogue_landmark AS r
WHERE r.position <@ box(point(%(left)s, %(bottom)s), point(%(right)s, %(top)s)) AND r.kind = ANY(%(kinds)s)
ORDER BY r.prominence DESC, r.id LIMIT %(limit)s
"""
DISTRICTS = [Landmark.Kind.NEIGHBORHOOD.value]
SIGHTS = [
    kind.value
    for kind in Landmark.Kind
    if kind not in (Landmark.Kind.NEIGHBORHOOD, Landmark.Kind.CITY, Landmark.Kind.HOTEL)
]

Corner = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Pin:
    """A restaurant to show: its number in the list, its name, and the address that its pin links."""

    number: int
    name: str
    location: Location
    href: str
    # The colour, as that of its card.
    tone: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Something at a place of the map, in units of the SVG. `label` is empty where there is no room for the name."""

    x: float
    y: float
    name: str
    label: str = ""
    kind: str = ""
    number: int = 0
    href: str = ""
    source: str = ""
    tone: int = 0

    @property
    def label_y(self) -> float:
        return self.y - 7


@dataclass(frozen=True, slots=True)
class District:
    """The part of the map that is nearest to the centre of a neighborhood: its corners, and a tint."""

    name: str
    source: str
    corners: list[Corner]
    tint: int

    @property
    def points(self) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.corners)

    @property
    def middle(self) -> Corner:
        return (
            round(sum(x for x, _ in self.corners) / len(self.corners), 1),
            round(sum(y for _, y in self.corners) / len(self.corners), 1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """What map.html shows."""

    pins: list[Mark]
    here: Mark | None
    districts: list[District]
    names: list[Mark]
    sights: list[Mark]
    grid: list[float]
    scale_m: int
    scale: float
    sources: frozenset[str]

    @property
    def scale_text(self) -> str:
        return f"{self.scale_m} m" if self.scale_m < 1000 else f"{self.scale_m // 1000} km"


class Frame:
    """The square of the ground that a map shows, on the plane of Web Mercator."""

    def __init__(self, locations: Sequence[Location]) -> None:
        points = [project_mercator(location) for location in locations]
        self.left, self.right = min(point.x for point in points), max(point.x for point in points)
        self.bottom, self.top = min(point.y for point in points), max(point.y for point in points)
        # Metres of the plane for one on the ground.
        self.stretch = 1 / cos(radians(sum(location.lat for location in locations) / len(locations)))
        extent = max(self.right - self.left, self.top - self.bottom) * SIZE / (SIZE - 2 * MARGIN)
        width = max(extent, MIN_WIDTH_M * self.stretch)
        middle_x, middle_y = (self.left + self.right) / 2, (self.bottom + self.top) / 2
        self.left, self.right = middle_x - width / 2, middle_x + width / 2
        self.bottom, self.top = middle_y - width / 2, middle_y + width / 2
        self.unit = SIZE / width

    @property
    def width_m(self) -> float:
        return (self.right - self.left) / self.stretch

    def place(self, location: Location) -> Corner:
        """Return the place in units of the SVG, from its upper left corner."""
        point = project_mercator(location)
        return round((point.x - self.left) * self.unit, 1), round((self.top - point.y) * self.unit, 1)

    def box(self, *, margin: float) -> dict[str, float]:
        """Return the corners of the square on the plane, wider by this part of it on each side."""
        wider = (self.right - self.left) * margin
        return {
            "left": self.left - wider,
            "bottom": self.bottom - wider,
            "right": self.right + wider,
            "top": self.top + wider,
        }


class LabelSpace:
    """The room that is taken on the map: a name that would overlap others is left out."""

    def __init__(self) -> None:
        self.taken: list[tuple[float, float, float, float]] = []

    def reserve(self, x: float, y: float, radius: float) -> None:
        self.taken.append((x - radius, y - radius, x + radius, y + radius))

    def add(self, text: str, x: float, y: float, *, font_size: float = FONT_SIZE) -> bool:
        """Take the room of a text around `x` whose baseline is `y`, if it is free and within the map."""
        half = text_width(text) * font_size / 2
        box = x - half, y - font_size, x + half, y + font_size * 0.3
        if box[0] < 3 or box[1] < 3 or box[2] > SIZE - 3 or box[3] > SIZE - 3:
            return False
        if any(
            box[0] < right and left < box[2] and box[1] < low and high < box[3]
            for left, high, right, low in self.taken
        ):
            return False
        self.taken.append(box)
        return True


def draw_map(pins: Sequence[Pin], *, here: tuple[str, Location] | None = None) -> Map | None:
    """Draw pins and, as `here`, a named reference point. Two queries, by the index of positions.

    None without a location, or for hits that are too far apart for one map.
    """
    locations = [pin.location for pin in pins] + ([here[1]] if here else [])
    if not locations:
        return None
    frame = Frame(locations)
    if frame.width_m > MAX_WIDTH_M:
        return None
    labels = LabelSpace()
    places = spread([frame.place(pin.location) for pin in pins])
    marks = [
        Mark(*place, pin.name, number=pin.number, href=pin.href, tone=pin.tone)
        for place, pin in zip(places, pins, strict=True)
    ]
    for mark in marks:
        labels.reserve(mark.x, mark.y, PIN_RADIUS)
    here_mark = None
    if here:
        name, location = here
        x, y = frame.place(location)
        labels.reserve(x, y, PIN_RADIUS - 2)
        label = name if labels.add(_shorten(name), x, y + 21) else ""
        here_mark = Mark(x, y, name, _shorten(label))
    scale_m = _round_down(frame.width_m / MAX_SQUARES * 1.6)
    step = scale_m * frame.stretch * frame.unit
    # Of the scale bar.
    labels.taken.append((0, SIZE - 30, step + 24, SIZE))
    districts = divide(_find(frame, DISTRICTS, margin=0.5, limit=MAX_DISTRICTS))
    sights = _find(frame, SIGHTS, margin=0.0, limit=MAX_SIGHTS)
    names = [name_mark for district in districts if (name_mark := _place_name(district, labels))]
    return Map(
        pins=marks,
        here=here_mark,
        sights=_label_sights(sights, labels),
        names=names,
        districts=districts,
        grid=[round(step * number, 1) for number in range(1, int(SIZE / step) + 1)],
        scale_m=scale_m,
        scale=round(step, 1),
        sources=frozenset([*(district.source for district in districts), *(mark.source for mark in sights)]),
    )


def spread(places: Sequence[Corner]) -> list[Corner]:
    """Move places that are nearer than PIN_GAP to each other apart, each by half of what is missing."""
    moved = [list(place) for place in places]
    for _ in range(MAX_ROUNDS):
        is_free = True
        for number, one in enumerate(moved):
            for other in moved[number + 1 :]:
                dx, dy = other[0] - one[0], other[1] - one[1]
                gap = hypot(dx, dy)
                # Less would be lost in the rounding below.
                if PIN_GAP - gap < 0.2:
                    continue
                is_free = False
                # Two at one place move to the left and the right.
                dx, dy = (dx / gap, dy / gap) if gap else (1.0, 0.0)
                step = (PIN_GAP - gap) / 2
                one[0], one[1] = _within(one[0] - dx * step), _within(one[1] - dy * step)
                other[0], other[1] = _within(other[0] + dx * step), _within(other[1] + dy * step)
        if is_free:
            break
    return [(round(x, 1), round(y, 1)) for x, y in moved]


def _within(position: float) -> float:
    """Return the nearest position at which a whole pin is on the map."""
    return min(max(position, PIN_RADIUS), SIZE - PIN_RADIUS)


def _find(frame: Frame, kinds: list[str], *, margin: float, limit: int) -> list[Mark]:
    """Return the best known places within the frame."""
    values = {**frame.box(margin=margin), "kinds": kinds, "limit": limit}
    found = []
    for name, kind, lat, lng, source in prepared_statements.fetch_all(AROUND, values):
        x, y = frame.place(Location(lat, lng))
        found.append(Mark(x, y, name, _shorten(name), kind, source=source))
    return found


def _place_name(district: District, labels: LabelSpace) -> Mark | None:
    """Return the name of a district in or near its middle, which may be full of restaurants; None without room."""
    x, y = district.middle
    for dy in NAME_SHIFTS:
        if labels.add(district.name, x, y + dy, font_size=CAPITALS_SIZE):
            return Mark(x, round(y + dy, 1), district.name, district.name)
    return None


def _label_sights(sights: Iterable[Mark], labels: LabelSpace) -> list[Mark]:
    """Return those sights whose mark and name have room, the best known first."""
    return [
        mark
        for mark in sights
        if labels.add("o", mark.x, mark.y + 3, font_size=6) and labels.add(mark.label, mark.x, mark.label_y)
    ]


def divide(centers: Sequence[Mark]) -> list[District]:
    """Divide the map among the centres: each gets what is nearer to it than to the others (a Voronoi diagram)."""
    districts = []
    for number, center in enumerate(centers):
        corners: list[Corner] = [(0, 0), (SIZE, 0), (SIZE, SIZE), (0, SIZE)]
        for other in centers:
            if (other.x, other.y) != (center.x, center.y):
                corners = _cut(corners, center, other)
        if len(corners) > 2:
            districts.append(District(center.label, center.source, corners, number % TINTS))
    return districts


def _cut(corners: Sequence[Corner], center: Mark, other: Mark) -> list[Corner]:
    """Return the part of a convex polygon that is nearer to `center` than to `other`."""
    # How much nearer each corner is to the centre: the difference of the squared distances, which is linear.
    slope_x, slope_y = 2 * (center.x - other.x), 2 * (center.y - other.y)
    constant = other.x**2 + other.y**2 - center.x**2 - center.y**2
    leads = [slope_x * x + slope_y * y + constant for x, y in corners]
    kept: list[Corner] = []
    for number, corner in enumerate(corners):
        former = corners[number - 1]
        here, before = leads[number], leads[number - 1]
        if (here < 0) != (before < 0):
            part = before / (before - here)
            kept.append((former[0] + (corner[0] - former[0]) * part, former[1] + (corner[1] - former[1]) * part))
        if here >= 0:
            kept.append(corner)
    return kept


def text_width(text: str) -> float:
    """Return the width of a text in heights of its font."""
    return sum(
        WIDE_CHARACTER_WIDTH if unicodedata.east_asian_width(each) in "WF" else CHARACTER_WIDTH for each in text
    )


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1].rstrip()}…"


def _round_down(metres: float) -> int:
    """Return the greatest of 1, 2, 5, 10, 20, 50, ... that is not larger."""
    power = 10 ** int(log10(metres))
    return int(max(step for step in (power, 2 * power, 5 * power) if step <= metres))
