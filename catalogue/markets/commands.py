"""Stores a planned market with its city, its holidays and the landmarks that lie in it."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from catalogue.hours import holidays
from catalogue.markets.plans import MarketPlan
from catalogue.models import Landmark, LandmarkName, Market
from catalogue.reference_data import landmark_id, load_vocabulary
from catalogue.search.geocoding.distance import CENTER_SQL, METRES_SQL, Location, circle_parameters, distance_m
from catalogue.search.text.vocabulary import fold
from framework.db.locks import AdvisoryLock
from framework.errors import InvalidRequest

# Two new markets could overlap, which no constraint forbids.
MARKETS_LOCK = AdvisoryLock("markets")
CITY_PROMINENCE = 100

# The longest radius that a new market may have is rounded down to this.
ROUNDED_TO_M = 100

IN_CIRCLE = f"position <@ circle({CENTER_SQL}, %(reach)s) AND {METRES_SQL} <= %(radius_m)s"
ADOPT_LANDMARKS = f"""
UPDATE catalogue_landmark AS r SET market_id = %(market)s
WHERE r.id IN (
    SELECT r.id FROM catalogue_landmark AS r WHERE r.market_id IS NULL AND r.{IN_CIRCLE} ORDER BY r.id FOR UPDATE
)
"""  # noqa: S608  # built from constants


class MarketExists(InvalidRequest):
    """Another market has the slug."""


class MarketOverlaps(InvalidRequest):
    """The circle of the new market overlaps that of another."""


@dataclass(frozen=True, slots=True)
class AddedMarket:
    """The stored market; `is_new` is false if it was there already, and `landmarks` of others lie in it now."""

    market: Market
    is_new: bool
    holidays: int = 0
    landmarks: int = 0


@transaction.atomic
def add_market(plan: MarketPlan, *, now: datetime, allows_overlap: bool = False) -> AddedMarket:
    """Store a market with its city as a landmark and its holidays, and give it the landmarks without a market in it.

    A market of that slug, country and centre is left as it is. Waits for other calls. All or nothing. About fifteen
    statements. Raises MarketExists for another market of that slug, MarketOverlaps.
    """
    MARKETS_LOCK.acquire()
    market = plan.market
    if existing := check_market(plan, allows_overlap=allows_overlap):
        return AddedMarket(existing, is_new=False)
    load_vocabulary()
    market.save(force_insert=True)
    landmarks = _adopt_landmarks(market)
    _add_city(plan)
    return AddedMarket(
        market, is_new=True, holidays=holidays.add_market_holidays(market, now=now), landmarks=landmarks
    )


def check_market(plan: MarketPlan, *, allows_overlap: bool = False) -> Market | None:
    """Return the market if it exists. One query. Raises MarketExists and MarketOverlaps as `add_market` does."""
    market = plan.market
    others = list(Market.objects.order_by("slug"))
    for other in others:
        if other.slug == market.slug:
            if other.country == market.country and _center(other) == _center(market):
                return other
            raise MarketExists(
                f"There is a market `{other.slug}` already, {other.name} in {other.country} at {other.latitude},"
                f"{other.longitude}: give this one another slug, or edit that one in the admin.",
                param="slug",
            )
    if not allows_overlap:
        for other in others:
            _check_overlap(market, other)
    return None


def _check_overlap(market: Market, other: Market) -> None:
    metres = distance_m(_center(market), _center(other))
    if metres >= market.radius_m + other.radius_m:
        return
    longest = int(metres - other.radius_m) // ROUNDED_TO_M * ROUNDED_TO_M
    km = f"{metres / 1000:.1f} km"
    if longest <= 0:
        hint = f"its centre is {km} from that one, whose radius is {other.radius_m / 1000:g} km."
    else:
        hint = f"the centres are {km} apart. A radius of up to {longest / 1000:g} km fits."
    raise MarketOverlaps(
        f"{market.name} overlaps the market `{other.slug}`: {hint} If you allow the overlap, each place belongs to the"
        " nearest centre.",
        param="radius_m",
    )


def _center(market: Market) -> Location:
    return Location(market.latitude, market.longitude)


def _adopt_landmarks(market: Market) -> int:
    parameters = circle_parameters(_center(market), radius_m=market.radius_m)
    with connection.cursor() as cursor:
        cursor.execute(ADOPT_LANDMARKS, {**parameters, "market": market.slug, "radius_m": market.radius_m})
        return int(cursor.rowcount)


def _add_city(plan: MarketPlan) -> None:
    """Add the city as a landmark, unless an imported one is there, and add its names to it."""
    market = plan.market
    city = (
        Landmark.objects.filter(
            market=market, kind=Landmark.Kind.CITY, names__folded__in=[fold(name) for name in plan.city_names]
        )
        .order_by("-prominence", "pk")
        .first()
    )
    if city is None:
        city = Landmark.objects.create(
            id=landmark_id(market.slug, market.name),
            name=market.name,
            kind=Landmark.Kind.CITY,
            market=market,
            latitude=plan.city_location.lat,
            longitude=plan.city_location.lng,
            prominence=CITY_PROMINENCE,
            source_id=plan.source,
        )
    LandmarkName.objects.bulk_create(
        [LandmarkName(landmark=city, name=name) for name in plan.city_names], ignore_conflicts=True
    )
