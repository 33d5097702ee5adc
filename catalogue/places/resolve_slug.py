"""What a slug leads to: a restaurant, the one it is now, or one that is gone."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from catalogue.models import Restaurant
from framework.db import prepared_statements
from framework.errors import ApiError, ErrorCode, NotFound, Renamed

# How long others may remember where a slug leads: it may be given back.
HEADERS = {"Cache-Control": "public, max-age=60"}

# The members of a Place, in their order.
TOLD = """json_build_array(
    id, slug, name, neighborhood, latitude, longitude, rating, review_count, star_counts, review_facets
)::text"""
# Neither merged into another nor erased.
HERE = "slug = %(slug)s AND merged_into_id IS NULL AND erased_at IS NULL"
PLACE = f"SELECT {TOLD} FROM catalogue_restaurant WHERE {HERE}"  # noqa: S608  # of constants

# From a present or former slug along the mergers to the last of them.
TRAIL = """
WITH RECURSIVE trail AS (
    SELECT id, slug, merged_into_id, erased_at, 0 AS step
    FROM catalogue_restaurant
    WHERE slug = %(slug)s OR id = (SELECT restaurant_id FROM catalogue_formerslug WHERE slug = %(slug)s)
    UNION ALL
    SELECT next.id, next.slug, next.merged_into_id, next.erased_at, trail.step + 1
    FROM trail JOIN catalogue_restaurant AS next ON next.id = trail.merged_into_id
) CYCLE id SET is_loop USING path
SELECT slug, erased_at IS NOT NULL FROM trail WHERE merged_into_id IS NULL ORDER BY step DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Place:
    """As much of a restaurant as the lists about it need; each name is that of the model."""

    pk: UUID
    slug: str
    name: str
    neighborhood: str | None
    latitude: float | None
    longitude: float | None
    rating: float | None
    review_count: int
    star_counts: list[int]
    review_facets: dict[str, Any]

    @classmethod
    def read(cls, told: str) -> "Place":
        """The place of which the database told this (TOLD)."""
        pk, *members = orjson.loads(told)
        return cls(UUID(pk), *members)


class Gone(ApiError):
    """A restaurant that was here, and about which nothing is told any more."""

    code = ErrorCode.GONE


class NoSuchRestaurant(NotFound):
    """There is no restaurant of this slug, and there was none."""

    def __init__(self) -> None:
        super().__init__("There is no restaurant of this slug.")


def find(slug: str) -> Restaurant:
    """The restaurant of this slug, with its market and cuisine. One query, and one more where there is none.

    Raises Renamed, Gone and NoSuchRestaurant.
    """
    restaurant = (
        Restaurant.objects.select_related("market", "cuisine")
        .filter(slug=slug, merged_into=None, erased_at=None)
        .first()
    )
    if restaurant is None:
        raise missing(slug)
    return restaurant


def place(slug: str) -> Place:
    """What `find` finds, but only what a list about it needs, for a tenth of the time. Costs and raises the same."""
    row = prepared_statements.fetch_one(PLACE, {"slug": slug})
    if row is None:
        raise missing(slug)
    return Place.read(row[0])


def missing(slug: str) -> ApiError:
    """Why no restaurant is found by this slug. One query."""
    with connection.cursor() as cursor:
        cursor.execute(TRAIL, {"slug": slug})
        row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        return NoSuchRestaurant()
    survivor, is_erased = row
    if is_erased:
        return Gone("This restaurant was erased: nothing about it is told any more.", headers=HEADERS)
    return Renamed(
        f"The restaurant of this slug is `{survivor}` now.",
        former=slug,
        name=survivor,
        extra={"slug": survivor},
        headers=HEADERS,
    )
