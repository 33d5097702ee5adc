"""Resolves slugs: to a restaurant, to its new slug, or to an erased restaurant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from catalogue.models import Restaurant
from catalogue.search.text import autocomplete
from catalogue.search.text.autocomplete import Kind
from framework.db import prepared_statements
from framework.errors import ApiError, ErrorCode, NotFound, Renamed

# Short, because a former slug may become current again.
CACHE_HEADERS = {"Cache-Control": "public, max-age=60"}

MAX_SUGGESTIONS = 3
# The fields of Place, in their order.
PLACE_COLUMNS = """json_build_array(
    id, slug, name, neighborhood, latitude, longitude, rating, review_count, star_counts, review_facets
)::text"""
# Neither merged nor erased.
IS_PRESENT = "slug = %(slug)s AND merged_into_id IS NULL AND erased_at IS NULL"
PLACE = f"SELECT {PLACE_COLUMNS} FROM catalogue_restaurant WHERE {IS_PRESENT}"  # noqa: S608  # of constants
PLACES = PLACE.replace("= %(slug)s", "= ANY(%(slugs)s)")

# Follows a current or former slug along the mergers to the last restaurant.
RESOLVE = """
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
    """The fields of a restaurant that its lists need, named as in the model."""

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
    def from_json(cls, content: str) -> "Place":
        """Parse PLACE_COLUMNS."""
        pk, *members = orjson.loads(content)
        return cls(UUID(pk), *members)


class Gone(ApiError):
    """The restaurant was erased."""

    code = ErrorCode.GONE


class RestaurantNotFound(NotFound):
    """No restaurant has or had this slug. `suggestions` are slugs of those with a similar name."""

    quoted = ("suggestions",)

    def __init__(self, suggestions: Sequence[str] = ()) -> None:
        extra = {"suggestions": list(suggestions)} if suggestions else {}
        super().__init__("There is no restaurant of this slug.", extra=extra)


def find_restaurant(slug: str) -> Restaurant:
    """Return the restaurant of this slug with its market and cuisine. One query, and one more if it raises.

    Raises Renamed, Gone and RestaurantNotFound.
    """
    restaurant = (
        Restaurant.objects.select_related("market", "cuisine")
        .filter(slug=slug, merged_into=None, erased_at=None)
        .first()
    )
    if restaurant is None:
        raise missing_error(slug)
    return restaurant


def find_place(slug: str) -> Place:
    """As find_restaurant, with the fields of Place only, in a tenth of the time."""
    row = prepared_statements.fetch_one(PLACE, {"slug": slug})
    if row is None:
        raise missing_error(slug)
    return Place.from_json(row[0])


def find_places(slugs: Sequence[str]) -> Mapping[str, Place]:
    """Return the restaurants of these slugs by slug, without those that are missing. One query."""
    rows = prepared_statements.fetch_all(PLACES, {"slugs": list(slugs)})
    return {place.slug: place for place in (Place.from_json(content) for (content,) in rows)}


def missing_error(slug: str) -> ApiError:
    """The error for a slug without a restaurant: RestaurantNotFound, Gone or Renamed.

    One query, and those of autocomplete for an unknown slug.
    """
    with connection.cursor() as cursor:
        cursor.execute(RESOLVE, {"slug": slug})
        row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        similar = autocomplete.suggest(slug.replace("-", " "), kinds=(Kind.RESTAURANT,), limit=MAX_SUGGESTIONS)
        return RestaurantNotFound([each.slug for each in similar if each.slug])
    current_slug, is_erased = row
    if is_erased:
        return Gone("This restaurant was erased.", headers=CACHE_HEADERS)
    return Renamed(
        f"The restaurant of this slug is `{current_slug}` now.",
        former=slug,
        name=current_slug,
        extra={"slug": current_slug},
        headers=CACHE_HEADERS,
    )
