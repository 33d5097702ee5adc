"""Geocoding: resolve a place name to a point, and search landmarks."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from catalogue import attribution
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.areas import find_areas
from catalogue.search.geocoding.distance import Location
from catalogue.search.geocoding.resolved_place import ResolvedPlace
from catalogue.search.geocoding.world import WorldPlace, find_cities, find_places
from catalogue.search.query import MAX_RADIUS_M
from catalogue.search.text.understanding import build_here_message, is_here, without_article
from catalogue.search.text.vocabulary import Vocabulary, fold
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import AttributedPage, Cursor
from framework.db.sql_files import read_sql
from framework.errors import ErrorCode, InvalidRequest
from framework.public_ids import encode

MAX_ALTERNATIVES = 5
# "San Francisco", "New York City"; each split costs a look-up.
MAX_CITY_WORDS = 3
# The score of a name that differs by at most one letter; a lower one belongs to another place.
MIN_SPELLING_SIMILARITY = 1.9
# A place of another city is as likely as the best one if its name matches about as well and it is about as well known.
SCORE_TOLERANCE = 0.05
MIN_WEIGHT_SHARE = 0.5
# What has the name of its city before or after: "tower" alone is not Tokyo Tower.
MIN_NAMED_WORDS = 2
# A search by point alone lists the landmarks within this distance.
NEARBY_RADIUS_M = 20_000.0
# The keyset of a search.
KEYS = ("negative_score", "metres", "outside", "negative_prominence", "name", "id")


class PlaceNotResolved(InvalidRequest):
    """No known place has this name, or it is outside of all markets.

    `place` is the name of a known place that is outside, and `nearest` are the markets that are nearest to it with
    their distance in metres, or those of a country without one. Pages say it in their own words.
    """

    code = ErrorCode.PLACE_NOT_RESOLVED
    quoted = ("suggestions", "markets")
    place: str = ""
    nearest: Sequence[tuple[str, float | None]] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """The place that a name means, and other places that it could mean, the most likely first.

    Where places of several cities are as likely, each of them is `ambiguous`.
    """

    place: ResolvedPlace
    alternatives: tuple[ResolvedPlace, ...]


@dataclass(frozen=True, slots=True)
class LandmarkMatch:
    """A landmark of a search; `distance_m` is None without a reference point."""

    place: ResolvedPlace
    wikidata: str | None
    names: tuple[str, ...]
    distance_m: int | None


GEOCODE = read_sql("catalogue", "geocode")
# Columns of its rows, after those of a place.
RESOLVES, SCORE, WEIGHT, STEP = 6, 7, 9, 10
CITY = slice(11, 13)
COORDINATES = re.compile(r"\s*(-?\d{1,2}(?:\.\d+)?)\s*[,; ]\s*(-?\d{1,3}(?:\.\d+)?)\s*")
MAX_LATITUDE, MAX_LONGITUDE = 85, 180
# Airports lie outside of their cities.
AIRPORT_REACH_M = 80_000
MIN_WELL_KNOWN_POPULATION = 200_000
# In `q` words are cities only if they are larger: Buffalo wings, and Nice is an adjective.
MIN_LARGE_POPULATION = 500_000
MIN_CITY_LENGTH = 4


def geocode(near: str, *, market: str | None) -> Resolution:
    """Resolve a place name by the best evidence that there is.

    In this order: exact names of landmarks, neighborhoods and cities of ours, and of restaurants and their addresses;
    neighborhoods, postal codes and streets of stored addresses; airports and cities of the world; names that begin
    so; misspelled names. `market` selects places of one market, and so does a city of ours after the name ("Central
    Park, New York", "nyhavn in copenhagen"). One query for a known name, two or three otherwise, and one for the
    vocabulary where it is not cached. Raises PlaceNotResolved, also for a place that is outside of all markets.
    """
    if is_here(near):
        raise PlaceNotResolved(build_here_message(near), param="near", extra={"suggestions": [], "markets": []})
    # Each way to split the text into a name and a city: at commas, or else between words.
    parts = near.split("," if "," in near else " ")
    if "," in near:
        splits = [(",".join(parts[:end]).strip(), parts[end].strip()) for end in range(1, len(parts))]
    else:
        ends = range(max(1, len(parts) - MAX_CITY_WORDS), len(parts))
        splits = [(" ".join(parts[:end]).removesuffix(" in"), " ".join(parts[end:])) for end in ends]
    named = _list_names_with_city(near, market=market)
    parameters = {
        "near": near,
        "heads": [head for head, _ in splits],
        "tails": [tail for _, tail in splits],
        "named": [name for name, _ in named],
        "named_markets": [slug for _, slug in named],
        # An address is often followed by its town.
        "line1": near.partition(",")[0].strip(),
        "market": market,
        "max_rows": MAX_ALTERNATIVES + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(GEOCODE, parameters)
        rows = cursor.fetchall()
    is_exact = bool(rows) and rows[0][STEP] == "exact"
    if not is_exact and (rest := without_article(near)):
        return geocode(rest, market=market)
    if not is_exact and (found := _find_elsewhere(near, splits, market=market)):
        return found
    resolved = [row for row in rows if row[RESOLVES]]
    if not resolved:
        raise _not_resolved(near, rows, market=market)
    places = [_place(*row[:6], *row[CITY]) for row in resolved]
    best = places[0]
    if best.market is None:
        _require_market(best)
    min_score = resolved[0][SCORE] - SCORE_TOLERANCE
    weights = [row[WEIGHT] if row[SCORE] >= min_score else -1 for row in resolved]
    return _build_resolution(list(zip(places, weights, strict=True)))


def _list_names_with_city(near: str, *, market: str | None) -> list[tuple[str, str]]:
    """Return a folded name with that of each city before and after it, and the city's market.

    Folding hundreds of names in SQL would take longer than the rest of the query.
    """
    name = fold(near)
    if len(name.split()) < MIN_NAMED_WORDS:
        return []
    cities = [(city, slug) for city, slug in Vocabulary.load().markets_by_name.items() if market in (None, slug)]
    return [(text, slug) for city, slug in cities for text in (f"{city} {name}", f"{name} {city}")]


def _build_resolution(found: Sequence[tuple[ResolvedPlace, int]]) -> Resolution:
    """Describe places that come with how well each is known; -1 for a name that matches less well than the first."""
    min_weight = found[0][1] * MIN_WEIGHT_SHARE
    likely = {place.market for place, weight in found if place.market and weight >= min_weight}
    # Places of one name in one city are told apart by their points.
    counts = Counter((fold(place.name), place.market) for place, _ in found)
    places = []
    for place, weight in found[: MAX_ALTERNATIVES + 1]:
        if place.market:
            is_alone = counts[fold(place.name), place.market] == 1
            place = replace(
                place,
                near=f"{place.name}, {place.city}" if is_alone else f"{place.lat},{place.lng}",
                ambiguous=len(likely) > 1 and weight >= min_weight,
            )
        places.append(place)
    return Resolution(place=places[0], alternatives=tuple(places[1:]))


def find_center(
    *, near: str | None, ll: tuple[float, float] | None, market: str | None
) -> tuple[Resolution | None, Location | None]:
    """Return what the name means, and the reference point. A name may also be a point: "55.67, 12.57"."""
    if near and not (point := read_coordinates(near)):
        found = geocode(near, market=market)
        return found, found.place.location
    return None, point if near else Location(*ll) if ll else None


def read_coordinates(text: str) -> Location | None:
    """Return the point that a text states as latitude and longitude in degrees, None for any other text."""
    match = COORDINATES.fullmatch(text)
    point = Location(float(match[1]), float(match[2])) if match else None
    return point if point and abs(point.lat) <= MAX_LATITUDE and abs(point.lng) <= MAX_LONGITUDE else None


def _find_elsewhere(near: str, splits: Sequence[tuple[str, str]], *, market: str | None) -> Resolution | None:
    """Resolve a name that no landmark and no restaurant has exactly. Raises PlaceNotResolved if it is outside."""
    known = Vocabulary.load()
    in_cities = [(head, known.markets_by_name.get(fold(city))) for head, city in splits]
    names = [(near, market), *((head, slug) for head, slug in in_cities if slug and market in (None, slug))]
    for name, slug in names:
        if areas := find_areas(name, market=slug):
            return _build_resolution(areas)
    for name, slug in names:
        if places := _locate_world_places(find_places(name), market=slug):
            return _build_resolution(places)
    # A small town that has the name of a place of ours is less likely than that place.
    elsewhere = find_places(near)
    if elsewhere and (elsewhere[0].kind != "city" or elsewhere[0].population >= MIN_WELL_KNOWN_POPULATION):
        place = elsewhere[0]
        if place.location is None:
            raise _build_country_error(place, near=near)
        raise _build_outside_error(place.name, place.location, country=place.country, market=market)
    return None


def _locate_world_places(places: Sequence[WorldPlace], *, market: str | None) -> list[tuple[ResolvedPlace, int]]:
    """Return the places that lie within a market, with their inhabitants."""
    known = Vocabulary.load()
    found = []
    for place in places:
        area = known.nearest_market(place.location) if place.location else None
        if area and place.location and market in (None, area.slug):
            reach_m = AIRPORT_REACH_M if place.kind == "airport" else area.radius_m
            if distance.distance_m(area.center, place.location) <= reach_m:
                lat, lng = place.location.lat, place.location.lng
                where = ResolvedPlace(None, place.name, place.kind, area.slug, lat, lng, area.name, area.country)
                found.append((where, place.population))
    return found


def check_inside(texts: Iterable[str]) -> None:
    """Raise PlaceNotResolved if words of `q`, which no restaurant has, are a large city outside of all markets."""
    for text in texts:
        words = fold(text).split()
        spans = [words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1)]
        for phrase in map(" ".join, sorted(spans, key=len, reverse=True)):
            place = next(iter(find_cities(phrase)), None) if len(phrase) >= MIN_CITY_LENGTH else None
            if place and place.location and place.population >= MIN_LARGE_POPULATION:
                error = _build_outside_error(place.name, place.location, country=place.country, market=None)
                error.param = "q"
                raise error


def _build_country_error(place: WorldPlace, *, near: str) -> PlaceNotResolved:
    known = Vocabulary.load()
    ours = sorted(area.slug for area in known.markets.values() if area.country == place.country)
    message = f"`{near}` is a country: name a city" + (f" there, such as our market {ours[0]}." if ours else ".")
    error = PlaceNotResolved(message, param="near", extra={"suggestions": ours, "markets": sorted(known.markets)})
    error.place, error.nearest = place.name, [(slug, None) for slug in ours]
    return error


def _build_outside_error(name: str, location: Location, *, country: str = "", market: str | None) -> PlaceNotResolved:
    known = Vocabulary.load()
    metres = {slug: distance.distance_m(area.center, location) for slug, area in known.markets.items()}
    nearest = sorted(metres, key=metres.__getitem__)[:2]
    listed = " and ".join(f"{slug} ({metres[slug] / 1000:.0f} km)" for slug in nearest)
    where = f"outside of the market {market}" if market else "outside of our markets"
    named = f"{name} ({country})" if country else name
    message = f"{named} is {where}; the nearest are {listed}."
    error = PlaceNotResolved(message, param="near", extra={"suggestions": [], "markets": sorted(known.markets)})
    error.place, error.nearest = name, [(slug, metres[slug]) for slug in nearest]
    return error


def _require_market(place: ResolvedPlace) -> None:
    """Raise PlaceNotResolved unless the place is in reach of a market."""
    area = Vocabulary.load().nearest_market(place.location)
    if area and distance.distance_m(area.center, place.location) > area.radius_m + MAX_RADIUS_M:
        raise _build_outside_error(place.name, place.location, market=None)


def _not_resolved(near: str, rows: Sequence[tuple[Any, ...]], *, market: str | None) -> PlaceNotResolved:
    suggestions = list(dict.fromkeys(row[1] for row in rows if market in (None, row[3])))
    extra = {"suggestions": suggestions}
    if suggestions:
        hint = " Ask again with one of the `suggestions`,"
    else:
        hint = " Name a landmark, a street, a neighborhood, a restaurant or a city of our `markets`,"
        extra["markets"] = sorted(Vocabulary.load().markets)
        if rows and rows[0][SCORE] >= MIN_SPELLING_SIMILARITY and rows[0][3]:
            hint = f" A place of this name is in {rows[0][3]}: use that market, or leave `market` out.{hint}"
    return PlaceNotResolved(
        f"No place called `{near}` is known here.{hint} or give the point itself as `ll`: latitude,longitude.",
        param="near",
        extra=extra,
    )


def _place(
    row_id: UUID,
    name: str,
    kind: str,
    market: str | None,
    lat: float,
    lng: float,
    city: str | None = None,
    country: str | None = None,
) -> ResolvedPlace:
    prefix = "rst" if kind == "restaurant" else "lm"
    return ResolvedPlace(encode(prefix, row_id), name, kind, market, lat, lng, city, country)


# All parts of the order ascend, so that one row comparison selects the next page.
ORDER_SQL = "negative_score, metres, outside, -prominence, name, id"
SEARCH = f"""
WITH matching AS (
    SELECT n.landmark_id, max(CASE
        WHEN n.folded = fold(%(q)s) THEN 3
        WHEN n.folded ^@ fold(%(q)s) THEN 2
        ELSE word_similarity(fold(%(q)s), n.folded) END) AS score
    FROM catalogue_landmarkname n
    WHERE fold(%(q)s) <> '' AND (n.folded ^@ fold(%(q)s) OR fold(%(q)s) <%% n.folded)
    GROUP BY n.landmark_id
), found AS (
    SELECT r.id, r.name, r.kind, r.market_id, r.latitude, r.longitude, r.wikidata, r.prominence,
        -coalesce(matching.score, 0)::float8 AS negative_score, (r.market_id IS NULL)::int AS outside,
        CASE WHEN %(lat)s::float8 IS NOT NULL THEN {distance.METRES_SQL} ELSE 0 END AS metres
    FROM catalogue_landmark r LEFT JOIN matching ON matching.landmark_id = r.id
    WHERE CASE WHEN %(q)s::text IS NULL THEN true ELSE matching.landmark_id IS NOT NULL END
      AND (%(reach)s::float8 IS NULL OR r.position <@ circle({distance.CENTER_SQL}, %(reach)s))
      AND (%(kinds)s::text[] IS NULL OR r.kind = ANY (%(kinds)s::text[]))
      AND (%(market)s::text IS NULL OR r.market_id = %(market)s)
)
SELECT id, name, kind, market_id, latitude, longitude, wikidata,
       ARRAY(SELECT n.name FROM catalogue_landmarkname n WHERE n.landmark_id = found.id ORDER BY n.name),
       negative_score, metres, outside, -prominence
FROM found
WHERE NOT %(has_cursor)s OR ({ORDER_SQL}) > (
    %(negative_score)s::float8, %(metres)s::float8, %(outside)s::int, %(negative_prominence)s::int,
    %(name)s::text, %(id)s::uuid
)
ORDER BY {ORDER_SQL} LIMIT %(rows)s
"""  # noqa: S608  # built from constants


def search_landmarks(
    *,
    q: str | None = None,
    ll: tuple[float, float] | None = None,
    kind: Sequence[str] = (),
    market: str | None = None,
    limit: int,
    cursor: str | None = None,
    now: datetime,
) -> AttributedPage[LandmarkMatch]:
    """Search landmarks by name: exact matches first, then prefixes, then misspellings; ties nearest to `ll` first.

    Without `q` those within 20 km of `ll`, nearest first; without both all of them, the most prominent first. Three
    queries, and one for an unknown market. Raises InvalidCursor and InvalidRequest.
    """
    if market is not None:
        Vocabulary.load().market(market)
    fingerprint = pagination_cursor.fingerprint("landmarks", q, ll, sorted(kind), market)
    now = now.replace(microsecond=0)
    start = (
        pagination_cursor.decode_cursor(cursor, question=fingerprint, now=now)
        if cursor
        else Cursor(after=(), as_of=now)
    )
    circle: dict[str, Any] = dict.fromkeys(("lat", "lng", "x", "y", "reach"))
    if ll:
        circle = {**distance.circle_parameters(Location(*ll), radius_m=NEARBY_RADIUS_M)}
    parameters: dict[str, Any] = {
        **circle,
        "q": q,
        "reach": None if q else circle["reach"],
        "kinds": list(kind) or None,
        "market": market,
        "has_cursor": bool(start.after),
        **dict(zip(KEYS, start.after or [None] * len(KEYS), strict=True)),
        "rows": limit + 1,
    }
    with connection.cursor() as db:
        db.execute(SEARCH, parameters)
        rows = db.fetchall()
    matches = [
        LandmarkMatch(
            place=_place(*row[:6]),
            wikidata=row[6],
            names=tuple(row[7]),
            distance_m=round(row[9]) if ll else None,
        )
        for row in rows[:limit]
    ]
    next_cursor = None
    if len(rows) > limit:
        last = rows[limit - 1]
        key = (*last[8:12], last[1], str(last[0]))
        next_cursor = pagination_cursor.encode_cursor(key, as_of=start.as_of, question=fingerprint)
    return AttributedPage(
        rows=matches,
        limit=limit,
        next_cursor=next_cursor,
        as_of=start.as_of,
        attribution=attribution.landmark_attribution([row[0] for row in rows[:limit]]),
    )
