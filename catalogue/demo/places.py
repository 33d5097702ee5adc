"""One generated restaurant: where it is, what it is called and when it opens."""

import math
import random
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from catalogue.demo import opening_hours, vocabulary
from catalogue.demo.calendar import Calendar
from catalogue.demo.plan import Anchor, Market

METRES_PER_DEGREE = 111_195
# Beyond this the nearest neighbourhood of ours says nothing of a place.
OF_NEIGHBORHOOD_M = 3_500
UNKNOWN_HOURS, ROUND_THE_CLOCK = 0.04, 0.06
STATUSES = ("open",) * 965 + ("permanently_closed",) * 18 + ("temporarily_closed",) * 12 + ("moved",) * 5
DIETS = {"vegan": ("diet_vegan", "diet_vegetarian"), "vegetarian": ("diet_vegetarian",), "pakistani": ("diet_halal",)}
DAYTIME_KINDS = {"coffee-shop", "cafe", "bakery", "tea", "juice", "dessert", "ice-cream", "donut"}


@dataclass(frozen=True)
class Change:
    """What made the second version out of the first: its kind, and the columns with what they were and are."""

    kind: str
    patch: dict[str, tuple[str | int | None, str | int | None]]


@dataclass(frozen=True)
class Place:
    """A restaurant without its slug and reviews. `since`, `changed` and `verified` are indexes into Calendar.dates."""

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
    replies: float
    since: int
    changed: int
    verified: int | None
    is_phone_verified: bool


class Builder:
    """Makes the places of one market, each from the random numbers it is given."""

    def __init__(self, market: Market, *, today: date) -> None:
        self.market = market
        self.city = vocabulary.cities()[market.slug]
        self.calendar = Calendar(today)
        self._anchors = market.anchors
        self._anchor_weights = list(accumulate(anchor.weight for anchor in market.anchors))
        self._neighborhoods = [anchor for anchor in market.anchors if anchor.is_neighborhood]
        self._names: set[str] = set()

    def place(self, rng: random.Random) -> Place:
        city, chance = self.city, rng.random
        cuisine = rng.choices(city.cuisines, cum_weights=city.cuisine_weights)[0]
        latitude, longitude = self._location(rng)
        neighborhood = self._neighborhood(latitude, longitude)
        street = rng.choice(city.streets)
        name, native_name = self._name(rng, cuisine, street=street, area=neighborhood or self.market.name)
        # More round the clock than in life: a first search for open places is to find some at any hour.
        kind = "always" if chance() < ROUND_THE_CLOCK else rng.choice(cuisine.weeks)
        week = None if chance() < UNKNOWN_HOURS else opening_hours.week(kind, rng)
        holidays = rng.choice(self.calendar.holidays)
        status = rng.choice(STATUSES)
        phone = None if chance() < 0.04 else _phone(rng, city.phones)
        price_level = None if chance() < 0.03 else rng.choices((1, 2, 3, 4), weights=cuisine.prices)[0]
        since = self._since(rng)
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
            cuisines=(cuisine.slug, *(also for also in cuisine.also if chance() < 0.4)),
            hours=opening_hours.to_json(week, self.market.timezone, holidays) if week else None,
            attributes=_attributes(rng, cuisine),
            change=_change(rng, status, price_level=price_level, phone=phone, patterns=city.phones),
            quality=min(4.9, max(2.2, rng.gauss(4.1, 0.42))),
            replies=rng.choice((0, 0, 0.1, 0.3, 0.8)),
            since=since,
            changed=rng.randint(max(since, self.calendar.last - 90), self.calendar.last),
            verified=rng.randint(max(since, self.calendar.last - 300), self.calendar.last) if is_verified else None,
            is_phone_verified=is_verified and chance() < 0.8,
        )

    def _name(
        self, rng: random.Random, cuisine: vocabulary.Cuisine, *, street: str, area: str
    ) -> tuple[str, str | None]:
        key = self.city.style if cuisine.style == "local" else cuisine.style
        style = vocabulary.styles()[key]
        kind = rng.choice(cuisine.local_kinds.get(key, cuisine.kinds))
        name, native = style.name(rng, kind=kind, street=street, area=area)
        if name in self._names:
            # Chains and namesakes exist, but not by the dozen: a taken name is drawn once more.
            name, native = style.name(rng, kind=kind, street=street, area=area)
        self._names.add(name)
        return name, native

    def _location(self, rng: random.Random) -> tuple[float, float]:
        anchor = rng.choices(self._anchors, cum_weights=self._anchor_weights)[0]
        away_m = min(2_500, rng.expovariate(1 / (420 if anchor.is_neighborhood else 280)))
        bearing = rng.random() * math.tau
        north, east = away_m * math.cos(bearing), away_m * math.sin(bearing)
        per_degree = METRES_PER_DEGREE * math.cos(math.radians(anchor.latitude))
        return round(anchor.latitude + north / METRES_PER_DEGREE, 6), round(anchor.longitude + east / per_degree, 6)

    def _neighborhood(self, latitude: float, longitude: float) -> str | None:
        shrink = math.cos(math.radians(latitude))

        def degrees(anchor: Anchor) -> float:
            return math.hypot(anchor.latitude - latitude, (anchor.longitude - longitude) * shrink)

        nearest = min(self._neighborhoods, key=degrees)
        return nearest.name if degrees(nearest) * METRES_PER_DEGREE <= OF_NEIGHBORHOOD_M else None

    def _since(self, rng: random.Random) -> int:
        """Three in four were there when the catalogue began."""
        first, last = self.calendar.first, self.calendar.last
        return first if rng.random() < 0.75 else rng.randint(first, last - 60)


def _change(
    rng: random.Random, status: str, *, price_level: int | None, phone: str | None, patterns: tuple[str, ...]
) -> Change | None:
    """Who is not open once was; of the others one in eight has become dearer, got a number or another one."""
    draw = rng.random()
    if status != "open":
        return Change("updated" if status == "temporarily_closed" else "closed", {"status": ("open", status)})
    if draw < 0.06 and price_level is not None and price_level > 1:
        return Change("updated", {"price_level": (price_level - 1, price_level)})
    if draw < 0.125 and phone is not None:
        former = None if draw < 0.08 else _phone(rng, patterns)
        return Change("updated", {"phone": (former, phone)}) if former != phone else None
    return None


def _attributes(rng: random.Random, cuisine: vocabulary.Cuisine) -> dict[str, bool | str]:
    """Flags under the names that imports from OpenStreetMap use; what nobody noted is absent."""
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


def _phone(rng: random.Random, patterns: tuple[str, ...]) -> str:
    return "".join(rng.choice("0123456789") if letter == "#" else letter for letter in rng.choice(patterns))
