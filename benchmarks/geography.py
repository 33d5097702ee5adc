"""The row of geography: whether searches find the nearest, exactly, beside looking at every restaurant there is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import psycopg

from benchmarks.contenders import Contender, our_server
from benchmarks.figures import OURS, Figure, Row, Verdict, WrongAnswer
from benchmarks.product import Product
from benchmarks.suites import Run

HITS = 20
RADIUS_M = 1_500
QUICK_POINTS, POINTS = 12, 60
# The sphere of catalogue.search.geocoding.distance.
EARTH_M = 6_371_008.8
# Of the ground, in metres: no plane, no index, no box.
METRES = f"""(2 * {EARTH_M} * asin(least(1, sqrt(
    sin(radians(place.latitude - %(lat)s::float8) / 2) ^ 2
    + cos(radians(%(lat)s::float8)) * cos(radians(place.latitude))
        * sin(radians(place.longitude - %(lng)s::float8) / 2) ^ 2
))))"""
# Open then, by the same spans: what is in question is where they are.
ALL_BY_DISTANCE = f"""
SELECT near.slug, near.metres FROM (
    SELECT place.restaurant_id, restaurant.slug, {METRES} AS metres
    FROM catalogue_searchrow AS place JOIN catalogue_restaurant AS restaurant ON restaurant.id = place.restaurant_id
    WHERE place.latitude IS NOT NULL AND NOT place.is_shut AND place.open_intervals @> %(at)s::timestamptz
) AS near
WHERE near.metres <= %(radius)s ORDER BY near.metres, near.restaurant_id LIMIT %(most)s
"""  # noqa: S608  # constants of ours
# Beside restaurants, up to half a kilometre off.
POINTS_NEAR = """
SELECT round((latitude + (hashtext('lat' || restaurant_id) %% 1000) / 250000.0)::numeric, 6)::float8,
    round((longitude + (hashtext('lng' || restaurant_id) %% 1000) / 250000.0)::numeric, 6)::float8
FROM catalogue_searchrow WHERE latitude IS NOT NULL ORDER BY hashtext(restaurant_id::text) LIMIT %s
"""


@dataclass(frozen=True)
class Hit:
    """What a search has found, nearest first, and for which moment."""

    slugs: Sequence[str]
    at: datetime


class Geography:
    """Our search beside brute force."""

    name = "geography"
    rows: tuple[str, ...] = ("geography",)
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return 1

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The row. Raises WrongAnswer when there is nothing near any point."""
        run.step("geography: looking at every restaurant")
        server, found, expected, inversions = our_server(run.product), 0, 0, 0
        count = QUICK_POINTS if run.arguments.quick else POINTS
        for latitude, longitude in sample_points(run.product, count):
            payload = hits(server, latitude, longitude)
            every = nearest_by_sql(run.product, latitude, longitude, at=payload.at)
            expected += max(len(every), len(payload.slugs))
            found += len(set(every).intersection(payload.slugs))
            inversions += list(payload.slugs) != every
        if not expected:
            raise WrongAnswer("geography: nothing is near any of the points.")
        described = f"{found:,} of {expected:,} of {count} points' nearest {HITS} within {RADIUS_M} m"
        run.settings["geography"] = {
            "brute force": "the great-circle distance of every row by SQL, sphere of 6,371,008.8 m, the same moment",
            "found": described,
            "points whose answers differ, also in their order": inversions,
        }
        # Exact or not: the same ones in another order are not the nearest first.
        share = found / expected if found < expected or not inversions else 1 - inversions / count
        verdict = Verdict(row="geography", of="brute force", value=share, gate=1, goal=1, unit="of the top 20")
        yield Row(
            name="geography", what="open now, nearest 20", figures={OURS: Figure(note=described)}, verdicts=(verdict,)
        )


def sample_points(product: Product, count: int) -> list[tuple[float, float]]:
    """Where is asked, the same ones in each run over the same data."""
    with psycopg.connect(product.database_url) as connection:
        return [(latitude, longitude) for latitude, longitude in connection.execute(POINTS_NEAR, [count])]


def hits(server: Contender, latitude: float, longitude: float) -> Hit:
    """What our search answers."""
    asked = f"ll={latitude:.6f},{longitude:.6f}&open=now&radius={RADIUS_M}&limit={HITS}"
    output = json.loads(server.get(f"/v1/restaurants?{asked}"))
    return Hit([hit["slug"] for hit in output["data"]], datetime.fromisoformat(output["query"]["open_at"]))


def nearest_by_sql(product: Product, latitude: float, longitude: float, *, at: datetime) -> list[str]:
    """The slugs of the nearest that are open then, of all rows."""
    values = {"lat": latitude, "lng": longitude, "at": at, "radius": RADIUS_M, "most": HITS}
    with psycopg.connect(product.database_url) as connection:
        return [slug for slug, _ in connection.execute(ALL_BY_DISTANCE.encode(), values)]
