"""The reviews of a restaurant in pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson

from catalogue import attribution as catalogue_attribution
from catalogue import photos, places
from catalogue.models import Restaurant, Review
from catalogue.places import Place
from catalogue.places.resolve_slug import IS_PRESENT, PLACE_COLUMNS
from catalogue.reviews import aggregates
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import PageInfo
from framework.db import prepared_statements
from framework.errors import NotFound
from framework.public_ids import decode, to_base32


class Order(StrEnum):
    """The order of reviews."""

    RELEVANT = "relevant"
    NEWEST = "newest"
    OLDEST = "oldest"
    HIGHEST = "highest"
    LOWEST = "lowest"
    HELPFUL = "helpful"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuery:
    """Filters, order and page of a list of reviews. All `words` must be in the text."""

    sort: Order = Order.RELEVANT
    stars: tuple[int, ...] = ()
    lang: tuple[str, ...] = ()
    with_photos: bool | None = None
    has_reply: bool | None = None
    since: datetime | None = None
    words: tuple[str, ...] = ()
    ids: tuple[UUID, ...] = ()
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage(PageInfo):
    """A page of reviews, the summary of all reviews of the restaurant, and the attribution lines.

    Each row is a review as JSON (catalogue.serializers.paid_groups.ReviewRecord). The summary is sold with the
    reviews: it is None on an empty page, unless the restaurant has no reviews.
    """

    rows: list[str]
    summary: dict[str, Any] | None
    attribution: list[dict[str, Any]]

    @property
    def json(self) -> str:
        """The rows as a JSON array."""
        return f"[{','.join(self.rows)}]"

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows, parsed."""
        return orjson.loads(self.json)  # type: ignore[no-any-return]


class ReviewNotFound(NotFound):
    """There is no review with this id."""

    def __init__(self) -> None:
        super().__init__("There is no such review.")


# An integer in thousandths, so that it is equal on all pages: helpful votes (10 votes weigh as much as 1.5 years of
# age), length (full points from 400 characters), photos, and age (half of its 10 points after a year). `as_of` is that
# of the first page.
RELEVANCE = """round(1000 * (
    4 * ln(1 + {helpful_count}::float8)
    + 6 * least(1, {length} / 400::float8)
    + 2 * least(3, {photo_count})
    + 10 * power(
        0.5::float8, least(99, greatest(0, extract(epoch FROM %(as_of)s::timestamptz - created_at)::float8) / 31557600)
    )
))::bigint"""

# The first sort key, before time and id; the highest comes first.
RANKS: Mapping[Order, str] = {
    Order.RELEVANT: RELEVANCE,
    Order.NEWEST: "0::bigint",
    Order.OLDEST: "0::bigint",
    Order.HIGHEST: "{stars}::bigint",
    Order.LOWEST: "(-{stars})::bigint",
    Order.HELPFUL: "{helpful_count}::bigint",
}
# The position before the first row: rank, created_at, id, snapshot.
START = (0, None, None, "")
# Columns of the rows of a page.
SOURCE, PLACE_JSON = itemgetter(4), itemgetter(8)
# The current values, and those at the time of the first page (catalogue.models.reviews.ReviewChange).
CURRENT = {
    "stars": "review.stars",
    "length": "char_length(text)",
    "helpful_count": "review.helpful_count",
    "photo_count": "review.photo_count",
}
FORMER = {name: f"coalesce(former.{name}, {current})" for name, current in CURRENT.items()}

# PostgreSQL renders a review as JSON without its id and photos, whose public ids Python encodes. No letter follows a
# colon, because pgbench would read a variable.
TIMESTAMP = """'"', to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":"MI":"SS"Z"'), '"'"""
ITEM = f"""concat(
    '"stars":', stars, ',"rating":', coalesce(rating, stars), ',"text":', to_json(text),
    ',"lang":', coalesce(to_json(nullif(lang, ''))::text, 'null'),
    ',"author":', to_json(author), ',"visited_on":', coalesce(to_json(visited_on)::text, 'null'),
    ',"created_at":', {TIMESTAMP.format("created_at")}, ',"helpful_count":', helpful_count
), concat(
    '"owner_reply":', CASE WHEN owner_replied_at IS NULL THEN 'null' ELSE concat(
        '{{{{"text":', to_json(owner_reply), ',"created_at":', {TIMESTAMP.format("owner_replied_at")}, '}}}}'
    ) END, ',"source":', to_json(source_id)
)"""
# Few reviews have photos; a second statement for them cost more than everything else.
ROWS = f"""
{{place}} SELECT uuid_send(id), {ITEM}, CASE WHEN photo_count > 0 THEN ARRAY(
        SELECT photo.id FROM catalogue_photo AS photo
        WHERE photo.review_id = found.id AND NOT photo.is_hidden ORDER BY photo.created_at, photo.id
    ) END, source_id, created_at, rank, {{snapshot}}, {{place_json}}
FROM (
    SELECT review.*, {{rank}} AS rank FROM catalogue_review AS review {{former}}
    WHERE review.restaurant_id = {{restaurant}} AND {{conditions}}
) AS found
WHERE {{after}} ORDER BY {{order}} LIMIT %(limit)s
"""  # noqa: S608  # constants of ours
# Reads the restaurant in the same round trip.
PLACE = f"WITH place AS (SELECT id, {PLACE_COLUMNS} AS place_json FROM catalogue_restaurant WHERE {IS_PRESENT})"  # noqa: S608  # of constants
# The first change after the snapshot of the first page holds the values of that page.
FORMER_VALUES = """
LEFT JOIN (
    SELECT DISTINCT ON (review) * FROM catalogue_reviewchange
    WHERE restaurant = %(restaurant)s
        AND NOT pg_visible_in_snapshot(transaction::text::xid8, %(snapshot)s::pg_snapshot)
    ORDER BY review, id
) AS former ON former.review = review.id
"""
AFTER = {
    True: "(rank, created_at, id) < (%(rank)s, %(at)s, %(id)s)",
    # The index has no rank.
    False: "(created_at, id) {operator} (%(at)s, %(id)s)",
}


def list_reviews(restaurant: Restaurant | Place, query: ReviewQuery, *, now: datetime) -> ReviewPage:
    """Return a page of the reviews of a restaurant.

    One query. In order of time all pages cost the same; other orders and filters read all reviews of the restaurant.
    Raises InvalidCursor.
    """
    fingerprint = _fingerprint(restaurant.pk, query)
    position = pagination_cursor.decode_cursor(query.cursor, question=fingerprint, now=now) if query.cursor else None
    # Cursors store whole seconds, and the relevance must be equal on all pages.
    as_of = position.as_of if position else now.replace(microsecond=0)
    after = position.after if position else None
    rows = _read_rows(query, {"restaurant": restaurant.pk}, as_of=as_of, after=after)
    return _build_page(restaurant, query, rows, as_of=as_of, fingerprint=fingerprint, after=after)


def list_reviews_by_slug(slug: str, query: ReviewQuery, *, now: datetime) -> ReviewPage:
    """Return a page of the reviews of the restaurant of this slug; see `list_reviews`.

    A first page that is not empty takes one query, other pages one more for the restaurant. Raises
    InvalidCursor, and what places.find_place raises.
    """
    if query.cursor:
        return list_reviews(places.find_place(slug), query, now=now)
    as_of = now.replace(microsecond=0)
    rows = _read_rows(query, {"slug": slug}, as_of=as_of, after=None)
    restaurant = Place.from_json(PLACE_JSON(rows[0])) if rows else places.find_place(slug)
    fingerprint = _fingerprint(restaurant.pk, query)
    return _build_page(restaurant, query, rows, as_of=as_of, fingerprint=fingerprint, after=None)


def find_review(public_id: str) -> tuple[UUID, str]:
    """The key of a review and the slug of its restaurant. One query. Raises ReviewNotFound."""
    key = decode("rev", public_id)
    shown = Review.objects.filter(restaurant__merged_into=None, restaurant__erased_at=None)
    slug = shown.filter(pk=key).values_list("restaurant__slug", flat=True).first() if key else None
    if key is None or slug is None:
        raise ReviewNotFound
    return key, slug


def _build_page(
    restaurant: Restaurant | Place,
    query: ReviewQuery,
    rows: Sequence[tuple[Any, ...]],
    *,
    as_of: datetime,
    fingerprint: str,
    after: Sequence[Any] | None,
) -> ReviewPage:
    page = rows[: query.limit]
    cursor = None
    if len(rows) > query.limit:
        pk, *_, created_at, rank, snapshot, _ = page[-1]
        # All pages are ordered by the snapshot of the first page.
        position = [rank, created_at.isoformat(), str(UUID(bytes=pk)), after[3] if after else snapshot]
        cursor = pagination_cursor.encode_cursor(position, as_of=as_of, question=fingerprint)
    return ReviewPage(
        limit=query.limit,
        next_cursor=cursor,
        as_of=as_of,
        rows=[_render(*row) for row in page],
        summary=summarize(restaurant) if page or not restaurant.review_count else None,
        attribution=catalogue_attribution.attribution_lines({SOURCE(row) for row in page}),
    )


def summarize(restaurant: Restaurant | Place) -> dict[str, Any]:
    """The summary of all reviews of a restaurant, from its aggregates (catalogue.reviews.aggregates). No query.

    One query if the facets were never computed.
    """
    stars = [*restaurant.star_counts, 0, 0, 0, 0, 0][:5]
    facets = restaurant.review_facets
    if restaurant.review_count and not facets:
        facets = aggregates.read_facets(restaurant.pk)
    languages = sorted(facets.get("by_lang", {}).items(), key=lambda item: (-item[1], item[0]))
    return {
        "rating": None if restaurant.rating is None else float(restaurant.rating),
        "count": restaurant.review_count,
        "distribution": {str(rating): stars[rating - 1] for rating in range(5, 0, -1)},
        "by_lang": dict(languages),
        "with_photos": facets.get("with_photos", 0),
        "with_reply": facets.get("with_reply", 0),
    }


def _fingerprint(restaurant: UUID, query: ReviewQuery) -> str:
    since = query.since.isoformat() if query.since else None
    lists = (tuple(sorted(query.stars)), tuple(sorted(query.lang)))
    filters = (query.sort.value, *lists, query.with_photos, query.has_reply, since, query.words, sorted(query.ids))
    return pagination_cursor.fingerprint("reviews", restaurant, *filters, query.limit)


def _read_rows(
    query: ReviewQuery, restaurant: Mapping[str, Any], *, as_of: datetime, after: Sequence[Any] | None
) -> list[tuple[Any, ...]]:
    """Read the rows of a page and one more. `restaurant` has the key "restaurant" or "slug"."""
    conditions = []
    if query.stars:
        conditions.append("review.stars = ANY (%(stars)s)")
    if query.lang:
        conditions.append("lang = ANY (%(lang)s)")
    if query.with_photos is not None:
        conditions.append(f"review.photo_count {'>' if query.with_photos else '='} 0")
    if query.has_reply is not None:
        conditions.append(f"owner_reply IS {'NOT ' if query.has_reply else ''}NULL")
    if query.since:
        conditions.append("created_at >= %(since)s")
    if query.ids:
        conditions.append("review.id = ANY (%(ids)s)")
    words = {f"word{number}": word for number, word in enumerate(query.words)}
    conditions += [f"strpos(fold(text), fold(%({name})s)) > 0" for name in words]
    rank, created_at, pk, snapshot = after or START
    parameters = {
        **restaurant,
        "stars": list(query.stars),
        "lang": list(query.lang),
        "since": query.since,
        "ids": list(query.ids),
        "as_of": as_of,
        "rank": rank,
        "snapshot": snapshot,
        "at": datetime.fromisoformat(str(created_at)) if created_at else as_of,
        "id": UUID(str(pk)) if pk else None,
        "limit": query.limit + 1,
        **words,
    }
    statement = _statement(query.sort, tuple(conditions), is_next=after is not None, is_by_slug="slug" in restaurant)
    return prepared_statements.fetch_all(statement, parameters)


@lru_cache(maxsize=500)
def _statement(sort: Order, conditions: tuple[str, ...], *, is_next: bool, is_by_slug: bool) -> str:
    by_time = sort in (Order.NEWEST, Order.OLDEST)
    is_ascending = sort is Order.OLDEST
    direction = "ASC" if is_ascending else "DESC"
    keys = ("created_at", "id") if by_time else ("rank", "created_at", "id")
    uses_former = is_next and not by_time
    return ROWS.format(
        place=PLACE if is_by_slug else "",
        place_json="(SELECT place_json FROM place)" if is_by_slug else "NULL",
        restaurant="(SELECT id FROM place)" if is_by_slug else "%(restaurant)s",
        # The order of time needs no snapshot.
        snapshot="''" if by_time else "pg_current_snapshot()::text",
        rank=RANKS[sort].format(**(FORMER if uses_former else CURRENT)),
        former=FORMER_VALUES if uses_former else "",
        conditions=" AND ".join(conditions) or "true",
        after=AFTER[not by_time].format(operator=">" if is_ascending else "<") if is_next else "true",
        order=", ".join(f"{key} {direction}" for key in keys),
    )


def _render(pk: bytes, before: str, after: str, photo_ids: list[UUID] | None, *_: object) -> str:
    photos_json = orjson.dumps([photos.photo_links(photo) for photo in photo_ids]).decode() if photo_ids else "[]"
    return f'{{"id":"rev_{to_base32(pk)}",{before},"photos":{photos_json},{after}}}'
