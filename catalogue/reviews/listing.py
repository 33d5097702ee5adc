"""The reviews of a restaurant, page by page."""

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
from catalogue.models import Restaurant
from catalogue.places import Place
from catalogue.places.resolve_slug import HERE, TOLD
from catalogue.reviews import aggregates
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import PageInfo
from framework.db import prepared_statements
from framework.public_ids import to_base32


class Order(StrEnum):
    """What comes first."""

    RELEVANT = "relevant"
    NEWEST = "newest"
    OLDEST = "oldest"
    HIGHEST = "highest"
    LOWEST = "lowest"
    HELPFUL = "helpful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which reviews are wanted; every condition that is given holds. `words` are looked for in the text."""

    sort: Order = Order.RELEVANT
    stars: tuple[int, ...] = ()
    lang: tuple[str, ...] = ()
    with_photos: bool | None = None
    has_reply: bool | None = None
    since: datetime | None = None
    words: tuple[str, ...] = ()
    limit: int = 20
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage(PageInfo):
    """A page of reviews below a summary of all of the restaurant's, and the lines that are to be shown with them.

    Each row is a review in JSON (catalogue.serializers.paid_groups.ReviewRecord). The summary is sold with the
    reviews: it is None on a page without any, unless the restaurant has none at all.
    """

    rows: list[str]
    summary: dict[str, Any] | None
    attribution: list[dict[str, Any]]

    @property
    def json(self) -> str:
        """All rows, as an array."""
        return f"[{','.join(self.rows)}]"

    @property
    def values(self) -> list[dict[str, Any]]:
        """Each review by its names."""
        return orjson.loads(self.json)  # type: ignore[no-any-return]


# In thousandths, so that it is the same number on every page: what helped others (10 votes weigh as much as a year of
# age and a half), what says something (full marks from 400 letters), what shows something, and what is new (half of
# its 10 points after a year). `as_of` is that of the first page.
RELEVANCE = """round(1000 * (
    4 * ln(1 + {helpful_count}::float8)
    + 6 * least(1, {length} / 400::float8)
    + 2 * least(3, {photo_count})
    + 10 * power(
        0.5::float8, least(99, greatest(0, extract(epoch FROM %(as_of)s::timestamptz - created_at)::float8) / 31557600)
    )
))::bigint"""

# What a row is ordered by before its moment and its key, the highest first.
FIRST: Mapping[Order, str] = {
    Order.RELEVANT: RELEVANCE,
    Order.NEWEST: "0::bigint",
    Order.OLDEST: "0::bigint",
    Order.HIGHEST: "{stars}::bigint",
    Order.LOWEST: "(-{stars})::bigint",
    Order.HELPFUL: "{helpful_count}::bigint",
}
# What stands for the last row that was shown where none was.
NOWHERE = (0, None, None, "")
# Of the rows of a page.
SOURCE, TOLD_OF = itemgetter(4), itemgetter(8)
# As they are, and as they were when the walk began (catalogue.models.reviews.ReviewChange).
PRESENT = {
    "stars": "review.stars",
    "length": "char_length(text)",
    "helpful_count": "review.helpful_count",
    "photo_count": "review.photo_count",
}
FORMER = {name: f"coalesce(former.{name}, {present})" for name, present in PRESENT.items()}

# A review in JSON, as the database writes it: behind its id and its photos, which we do, as both have public ids.
# No colon has a letter behind it, which pgbench would take for a variable.
MOMENT = """'"', to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":"MI":"SS"Z"'), '"'"""
ITEM = f"""concat(
    '"stars":', stars, ',"text":', to_json(text), ',"lang":', coalesce(to_json(nullif(lang, ''))::text, 'null'),
    ',"author":', to_json(author), ',"visited_on":', coalesce(to_json(visited_on)::text, 'null'),
    ',"created_at":', {MOMENT.format("created_at")}, ',"helpful_count":', helpful_count
), concat(
    '"owner_reply":', CASE WHEN owner_replied_at IS NULL THEN 'null' ELSE concat(
        '{{{{"text":', to_json(owner_reply), ',"created_at":', {MOMENT.format("owner_replied_at")}, '}}}}'
    ) END, ',"source":', to_json(source_id)
)"""
# Photos with reviews are few; a statement of their own cost more than all the rest.
ROWS = f"""
{{place}} SELECT uuid_send(id), {ITEM}, CASE WHEN photo_count > 0 THEN ARRAY(
        SELECT photo.id FROM catalogue_photo AS photo
        WHERE photo.review_id = found.id AND NOT photo.is_hidden ORDER BY photo.created_at, photo.id
    ) END, source_id, created_at, rank, {{snapshot}}, {{told}}
FROM (
    SELECT review.*, {{first}} AS rank FROM catalogue_review AS review {{before}}
    WHERE review.restaurant_id = {{restaurant}} AND {{conditions}}
) AS found
WHERE {{after}} ORDER BY {{order}} LIMIT %(most)s
"""  # noqa: S608  # constants of ours
# The restaurant with its reviews, in one way to the database and back.
PLACE = f"WITH place AS (SELECT id, {TOLD} AS told FROM catalogue_restaurant WHERE {HERE})"  # noqa: S608  # of constants
# The first of the changes that the first page did not see holds what it saw.
BEFORE = """
LEFT JOIN (
    SELECT DISTINCT ON (review) * FROM catalogue_reviewchange
    WHERE restaurant = %(restaurant)s
        AND NOT pg_visible_in_snapshot(transaction::text::xid8, %(snapshot)s::pg_snapshot)
    ORDER BY review, id
) AS former ON former.review = review.id
"""
AFTER = {
    True: "(rank, created_at, id) < (%(rank)s, %(at)s, %(id)s)",
    # The index has no rank, and holds the walk by time alone.
    False: "(created_at, id) {than} (%(at)s, %(id)s)",
}


def page(restaurant: Restaurant | Place, question: Question, *, now: datetime) -> ReviewPage:
    """A page of the reviews of a restaurant.

    One query. By time a page costs the same however far down it is; other orders and filters read all reviews of the
    restaurant. Raises InvalidCursor.
    """
    asked = _asked(restaurant.pk, question)
    place = pagination_cursor.decode_cursor(question.cursor, question=asked, now=now) if question.cursor else None
    # Cursors keep whole seconds; the score of the first page must be that of the next ones.
    as_of = place.as_of if place else now.replace(microsecond=0)
    found = _rows(question, {"restaurant": restaurant.pk}, as_of=as_of, after=place.after if place else None)
    return _page(restaurant, question, found, as_of=as_of, asked=asked, after=place.after if place else None)


def page_of(slug: str, question: Question, *, now: datetime) -> ReviewPage:
    """A page of the reviews of the restaurant of this slug; see `page`.

    The first one, if there is a review on it, is read with the restaurant in one query; others take another one for
    that. Raises InvalidCursor, and what identity.place raises.
    """
    if question.cursor:
        return page(places.place(slug), question, now=now)
    as_of = now.replace(microsecond=0)
    found = _rows(question, {"slug": slug}, as_of=as_of, after=None)
    restaurant = Place.read(TOLD_OF(found[0])) if found else places.place(slug)
    asked = _asked(restaurant.pk, question)
    return _page(restaurant, question, found, as_of=as_of, asked=asked, after=None)


def _page(
    restaurant: Restaurant | Place,
    question: Question,
    found: Sequence[tuple[Any, ...]],
    *,
    as_of: datetime,
    asked: str,
    after: Sequence[Any] | None,
) -> ReviewPage:
    shown = found[: question.limit]
    cursor = None
    if len(found) > question.limit:
        octets, *_, at, rank, seen, _ = shown[-1]
        # What the first page saw is what all pages are ordered by.
        place = [rank, at.isoformat(), str(UUID(bytes=octets)), after[3] if after else seen]
        cursor = pagination_cursor.encode_cursor(place, as_of=as_of, question=asked)
    return ReviewPage(
        limit=question.limit,
        next_cursor=cursor,
        as_of=as_of,
        rows=[_record(*row) for row in shown],
        summary=summary(restaurant) if shown or not restaurant.review_count else None,
        attribution=catalogue_attribution.attribution_lines({SOURCE(row) for row in shown}),
    )


def summary(restaurant: Restaurant | Place) -> dict[str, Any]:
    """All reviews of a restaurant in figures, as its row counts them (catalogue.reviews.aggregates). No query.

    One where its languages were never counted: what is sold is not wrong until the next night.
    """
    stars = [*restaurant.star_counts, 0, 0, 0, 0, 0][:5]
    facets = restaurant.review_facets
    if restaurant.review_count and not facets:
        facets = aggregates.facets(restaurant.pk)
    languages = sorted(facets.get("by_lang", {}).items(), key=lambda found: (-found[1], found[0]))
    return {
        "rating": None if restaurant.rating is None else float(restaurant.rating),
        "count": restaurant.review_count,
        "distribution": {str(given): stars[given - 1] for given in range(5, 0, -1)},
        "by_lang": dict(languages),
        "with_photos": facets.get("with_photos", 0),
        "with_reply": facets.get("with_reply", 0),
    }


def _asked(restaurant: UUID, question: Question) -> str:
    since = question.since.isoformat() if question.since else None
    chosen = (tuple(sorted(question.stars)), tuple(sorted(question.lang)))
    wanted = (question.sort.value, *chosen, question.with_photos, question.has_reply, since, question.words)
    return pagination_cursor.fingerprint("reviews", restaurant, *wanted, question.limit)


def _rows(
    question: Question, restaurant: Mapping[str, Any], *, as_of: datetime, after: Sequence[Any] | None
) -> list[tuple[Any, ...]]:
    """The rows of a page and one more; of the restaurant with this key (`restaurant`) or `slug`."""
    conditions = []
    if question.stars:
        conditions.append("review.stars = ANY (%(stars)s)")
    if question.lang:
        conditions.append("lang = ANY (%(lang)s)")
    if question.with_photos is not None:
        conditions.append(f"review.photo_count {'>' if question.with_photos else '='} 0")
    if question.has_reply is not None:
        conditions.append(f"owner_reply IS {'NOT ' if question.has_reply else ''}NULL")
    if question.since:
        conditions.append("created_at >= %(since)s")
    words = {f"word{number}": word for number, word in enumerate(question.words)}
    conditions += [f"strpos(fold(text), fold(%({name})s)) > 0" for name in words]
    rank, at, pk, snapshot = after or NOWHERE
    parameters = {
        **restaurant,
        "stars": list(question.stars),
        "lang": list(question.lang),
        "since": question.since,
        "as_of": as_of,
        "rank": rank,
        "snapshot": snapshot,
        "at": datetime.fromisoformat(str(at)) if at else as_of,
        "id": UUID(str(pk)) if pk else None,
        "most": question.limit + 1,
        **words,
    }
    statement = _statement(
        question.sort, tuple(conditions), is_next=after is not None, is_by_slug="slug" in restaurant
    )
    return prepared_statements.fetch_all(statement, parameters)


@lru_cache(maxsize=500)
def _statement(sort: Order, conditions: tuple[str, ...], *, is_next: bool, is_by_slug: bool) -> str:
    by_time = sort in (Order.NEWEST, Order.OLDEST)
    upwards = sort is Order.OLDEST
    direction = "ASC" if upwards else "DESC"
    keys = ("created_at", "id") if by_time else ("rank", "created_at", "id")
    looks_back = is_next and not by_time
    return ROWS.format(
        place=PLACE if is_by_slug else "",
        told="(SELECT told FROM place)" if is_by_slug else "NULL",
        restaurant="(SELECT id FROM place)" if is_by_slug else "%(restaurant)s",
        # Where nothing but time orders them, no page needs to know what the first one saw.
        snapshot="''" if by_time else "pg_current_snapshot()::text",
        first=FIRST[sort].format(**(FORMER if looks_back else PRESENT)),
        before=BEFORE if looks_back else "",
        conditions=" AND ".join(conditions) or "true",
        after=AFTER[not by_time].format(than=">" if upwards else "<") if is_next else "true",
        order=", ".join(f"{key} {direction}" for key in keys),
    )


def _record(octets: bytes, before: str, after: str, taken: list[UUID] | None, *_: object) -> str:
    shown = orjson.dumps([photos.photo_links(photo) for photo in taken]).decode() if taken else "[]"
    return f'{{"id":"rev_{to_base32(octets)}",{before},"photos":{shown},{after}}}'
