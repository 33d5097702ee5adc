"""Generated restaurants: location, name, opening hours and attributes."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from catalogue.demo import opening_hours, vocabulary
from catalogue.demo.plan import Anchor, Calendar, Market

M_PER_DEGREE = 111_195
MAX_NEIGHBORHOOD_DISTANCE_M = 3_500
# Shares of restaurants. More are always open than in reality, so that a search at any hour finds some.
WITHOUT_HOURS, ALWAYS_OPEN = 0.04, 0.06
STATUSES = ("open",) * 965 + ("permanently_closed",) * 18 + ("temporarily_closed",) * 12 + ("moved",) * 5
DIETS = {"vegan": ("diet_vegan", "diet_vegetarian"), "vegetarian": ("diet_vegetarian",), "pakistani": ("diet_halal",)}
DAYTIME_KINDS = {"coffee-shop", "cafe", "bakery", "tea", "juice", "dessert", "ice-cream", "donut"}


@dataclass(frozen=True)
class Change:
    """The change from the first to the second version. `patch` maps columns to their former and present values."""

    kind: str
    patch: dict[str, tuple[str | int | None, str | int | None]]


@dataclass(frozen=True)
class Place:
    """A restaurant without its slug and reviews.

    `created`, `changed` and `verified` are indexes into Calendar.dates. `quality` is the mean of the stars,
    `reply_rate` the share of reviews that the owner replies to.
    """

    name: str
    native_name: str | None
    status: str
    neighborhood: str | None
    line1: str
    locality: str
    region: str | None
    postal_code: str | None
    latitude: float
    longitude: float
    phone: str | None
    has_website: bool
    price_level: int | None
    cuisine: vocabulary.Cuisine
    cuisines: tuple[str, ...]
    hours: str | None
    attributes: dict[str, bool | str]
    change: Change | None
    quality: float
    reply_rate: float
    created: int
    changed: int
    verified: int | None
    is_phone_verified: bool


class PlaceGenerator:
    def __init__(self, market: Market, *, today: date) -> None:
        self.market = market
        self.city = vocabulary.cities()[market.slug]
        self.calendar = Calendar(today)
        self._anchors = market.anchors
        self._anchor_weights = list(accumulate(anchor.weight for anchor in market.anchors))
        self._neighborhoods = [anchor for anchor in market.anchors if anchor.is_neighborhood]
        self._used_names: set[str] = set()

    def generate(self, rng: random.Random) -> Place:
        city, chance = self.city, rng.random
        cuisine = rng.choices(city.cuisines, cum_weights=city.cuisine_weights)[0]
        latitude, longitude = self._location(rng)
        neighborhood = self._neighborhood(latitude, longitude)
        street = rng.choice(city.streets)
        name, native_name = self._name(rng, cuisine, street=street, area=neighborhood or self.market.name)
        template = "always" if chance() < ALWAYS_OPEN else rng.choice(cuisine.weeks)
        week = None if chance() < WITHOUT_HOURS else opening_hours.generate_week(template, rng)
        special_days = rng.choice(self.calendar.holiday_choices)
        status = rng.choice(STATUSES)
        phone = None if chance() < 0.04 else _phone(rng, city.phone_patterns)
        price_level = None if chance() < 0.03 else rng.choices((1, 2, 3, 4), weights=cuisine.prices)[0]
        first_day, last_day = self.calendar.first, self.calendar.last
        created = first_day if chance() < 0.75 else rng.randint(first_day, last_day - 60)
        is_verified = chance() < 0.5
        return Place(
            name=name,
            native_name=native_name,
            status=status,
            neighborhood=neighborhood,
            line1=city.address.format(
                number=1 + int(190 * chance() ** 1.5),
                street=street,
                block=f"{rng.randint(1, 6)}-{rng.randint(1, 24)}",
                neighborhood=neighborhood or self.market.name,
            ),
            locality=self.market.name,
            region=city.region,
            postal_code=city.postcodes.get(neighborhood) if neighborhood else None,
            latitude=latitude,
            longitude=longitude,
            phone=phone,
            has_website=chance() < 0.6,
            price_level=price_level,
            cuisine=cuisine,
            cuisines=(cuisine.slug, *(slug for slug in cuisine.secondary if chance() < 0.4)),
            hours=opening_hours.hours_json(week, self.market.timezone, special_days) if week else None,
            attributes=_attributes(rng, cuisine),
            change=_change(rng, status, price_level=price_level, phone=phone, phone_patterns=city.phone_patterns),
            quality=min(4.9, max(2.2, rng.gauss(4.1, 0.42))),
            reply_rate=rng.choice((0, 0, 0.1, 0.3, 0.8)),
            created=created,
            changed=rng.randint(max(created, last_day - 90), last_day),
            verified=rng.randint(max(created, last_day - 300), last_day) if is_verified else None,
            is_phone_verified=is_verified and chance() < 0.8,
        )

    def _name(
        self, rng: random.Random, cuisine: vocabulary.Cuisine, *, street: str, area: str
    ) -> tuple[str, str | None]:
        """The name and, where there is one, its spelling in the local script."""
        key = self.city.style if cuisine.style == "local" else cuisine.style
        style = vocabulary.styles()[key]
        kind = rng.choice(cuisine.local_kinds.get(key, cuisine.kinds))
        name, native_name = style.generate_name(rng, kind=kind, street=street, area=area)
        if name in self._used_names:
            # One second try: some restaurants share a name, as in reality, but few.
            name, native_name = style.generate_name(rng, kind=kind, street=street, area=area)
        self._used_names.add(name)
        return name, native_name

    def _location(self, rng: random.Random) -> tuple[float, float]:
        anchor = rng.choices(self._anchors, cum_weights=self._anchor_weights)[0]
        distance_m = min(2_500, rng.expovariate(1 / (420 if anchor.is_neighborhood else 280)))
        bearing = rng.random() * math.tau
        north_m, east_m = distance_m * math.cos(bearing), distance_m * math.sin(bearing)
        m_per_degree_east = M_PER_DEGREE * math.cos(math.radians(anchor.latitude))
        return (
            round(anchor.latitude + north_m / M_PER_DEGREE, 6),
            round(anchor.longitude + east_m / m_per_degree_east, 6),
        )

    def _neighborhood(self, latitude: float, longitude: float) -> str | None:
        scale = math.cos(math.radians(latitude))

        def distance_m(anchor: Anchor) -> float:
            return M_PER_DEGREE * math.hypot(anchor.latitude - latitude, (anchor.longitude - longitude) * scale)

        nearest = min(self._neighborhoods, key=distance_m)
        return nearest.name if distance_m(nearest) <= MAX_NEIGHBORHOOD_DISTANCE_M else None


def _change(
    rng: random.Random, status: str, *, price_level: int | None, phone: str | None, phone_patterns: Sequence[str]
) -> Change | None:
    """A restaurant that is not open once was. Of the others one in eight changed its price level or its phone."""
    draw = rng.random()
    if status != "open":
        return Change("updated" if status == "temporarily_closed" else "closed", {"status": ("open", status)})
    if draw < 0.06 and price_level is not None and price_level > 1:
        return Change("updated", {"price_level": (price_level - 1, price_level)})
    if draw < 0.125 and phone is not None:
        former = None if draw < 0.08 else _phone(rng, phone_patterns)
        return Change("updated", {"phone": (former, phone)}) if former != phone else None
    return None


def _attributes(rng: random.Random, cuisine: vocabulary.Cuisine) -> dict[str, bool | str]:
    """Attributes by the keys that imports from OpenStreetMap use. Unknown ones are absent."""
    chance = rng.random
    attributes: dict[str, bool | str] = {}
    if chance() < 0.6:
        attributes["outdoor_seating"] = chance() < 0.45
    if chance() < 0.6:
        attributes["takeaway"] = chance() < 0.7
    if chance() < 0.4:
        attributes["delivery"] = chance() < 0.5
    if chance() < 0.5:
        attributes["wheelchair"] = rng.choice((True, True, False, "limited"))
    if chance() < 0.3:
        attributes["internet_access"] = "wlan"
    if cuisine.slug not in DAYTIME_KINDS and chance() < 0.4:
        attributes["reservation"] = rng.choice((True, True, False, "recommended"))
    for diet in DIETS.get(cuisine.slug, ("diet_vegetarian",) if chance() < 0.35 else ()):
        attributes[diet] = True
    return attributes


def _phone(rng: random.Random, patterns: Sequence[str]) -> str:
    return "".join(rng.choice("0123456789") if character == "#" else character for character in rng.choice(patterns))
