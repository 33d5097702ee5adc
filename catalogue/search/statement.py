"""The one SQL statement that a search is: filters, order, one page, and what is shown of its rows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from catalogue import geo
from catalogue.cursors import Key
from catalogue.geo import Location
from catalogue.names import Asked
from catalogue.search.question import RADIUS_M, Query, Sort


@dataclass(frozen=True, slots=True)
class Column:
    """A part of the sort key: an SQL expression and its direction."""

    sql: str
    direction: Literal["ASC", "DESC"]


METRES = Column(geo.METRES_SQL, "ASC")
REVIEWS = Column("r.review_count", "DESC")
RATING = Column("(coalesce(r.rating, 0) * 10)::int", "DESC")

# The last word may be unfinished, a single letter may not: too many words begin with it. A tsquery's text with `:*`
# behind it is a tsquery again, whatever the caller wrote.
WORDS = """regexp_replace(nullif(plainto_tsquery('simple', fold(%(q)s))::text, ''),
    '([^ ''][^ '']''|[^ -~]'')$', '\\1:*')::tsquery"""
# Folding costs 3 µs a name, so long names are told apart by their length; a fold is at least half as long as its text.
RELEVANCE_OF_WORDS = Column(
    f"""CASE WHEN char_length(r.name) <= 2 * char_length(%(q)s::text) AND fold(r.name) = fold(%(q)s) THEN 3
        WHEN ts_filter(r.document, '{{a}}') @@ {WORDS} THEN 2 ELSE 1 END""",
    "DESC",
)
RELEVANCE_OF_LETTERS = Column("word_similarity(fold(%(q)s), fold(r.name))::float8", "DESC")

LISTED = "r.status NOT IN ('permanently_closed', 'moved')"
HAS_WORDS = f"r.document @@ {WORDS}"
# "hot pot vesterbro": the words of the document, or the cuisine that some of them call and a document with the rest.
HAS_CUISINE = "r.cuisines && %(called)s::varchar[]"
HAS_REST = "r.document @@ plainto_tsquery('simple', fold(%(rest)s))"
HAS_LETTERS = "fold(%(q)s) <%% fold(r.name)"
# A closure outranks hours, also while the worker has not yet computed the spans anew.
IS_OPEN = "r.open_spans @> %(open_at)s::timestamptz AND r.status <> 'temporarily_closed'"
# By the field of Query that each of them needs.
FILTERS = {
    "market": "r.market_id = %(market)s",
    # The document finds its words by an index; the comparison decides.
    "neighborhood": (
        "r.document @@ plainto_tsquery('simple', fold(%(neighborhood)s))"
        " AND fold(r.neighborhood) = fold(%(neighborhood)s)"
    ),
    "cuisine": "r.cuisines && %(cuisine)s::varchar[]",
    "price": "r.price_level = ANY(%(price)s::int[])",
    "price_max": "r.price_level <= %(price_max)s",
    "rating_min": "r.rating >= %(rating_min)s",
    "reviews_min": "r.review_count >= %(reviews_min)s",
}

# Spans are in order, so the first that ends after now is open now or opens next; one that ends where the computed days
# end tells of no change. Hours made of special days alone say nothing after the last of them.
SHOWN = """
SELECT page.*, r.slug, r.name, r.neighborhood, r.market_id, r.rating, r.review_count, r.price_level, c.label,
    r.cuisines, r.phone, r.latitude, r.longitude, m.timezone,
    CASE WHEN r.status = 'temporarily_closed' THEN false
         WHEN r.spans_until <= %(now)s THEN NULL
         WHEN NOT jsonb_path_exists(r.hours, '$.periods[*]')
             AND (SELECT max(day #>> '{}') FROM jsonb_path_query(r.hours, '$.special_days[*].date') AS day)
                 < to_char(%(now)s AT TIME ZONE m.timezone, 'YYYY-MM-DD') THEN NULL
         ELSE r.open_spans @> %(now)s::timestamptz END,
    CASE WHEN r.status <> 'temporarily_closed' THEN (
        SELECT CASE WHEN lower(span) > %(now)s THEN lower(span) WHEN upper(span) < r.spans_until THEN upper(span) END
        FROM unnest(r.open_spans) AS span WHERE upper(span) > %(now)s LIMIT 1) END,
    (SELECT json_agg(DISTINCT jsonb_build_array(s.key, s.attribution, s.license))::text
     FROM catalogue_sourcerecord record JOIN catalogue_source s ON s.key = record.source_id
     WHERE record.restaurant_id = r.id)
FROM page JOIN catalogue_restaurant r ON r.id = page.id
    JOIN catalogue_market m ON m.slug = r.market_id
    LEFT JOIN catalogue_cuisine c ON c.slug = r.cuisine_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A question with everything looked up that it names.

    `asked` is the cuisine that words of `q` call. `by_letters` compares the trigrams of names, for words that no
    document holds. `after` is the sort key and the id of the last row that was shown, empty on the first page.
    """

    query: Query
    center: Location | None
    open_at: datetime | None
    now: datetime
    asked: Asked | None = None
    after: tuple[Key, ...] = ()
    by_letters: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The sort key, which the id completes."""
        sort = self.query.sort
        if sort is Sort.BEST and self.query.q:
            return RELEVANCE_OF_LETTERS if self.by_letters else RELEVANCE_OF_WORDS, REVIEWS
        if sort is Sort.RATING:
            return RATING, REVIEWS
        if sort is Sort.DISTANCE or (sort is Sort.BEST and self.center):
            return (METRES,)
        return (REVIEWS,)

    def sql(self) -> str:
        """The text; a row is the sort key, the id, the metres from the centre, then the columns of SHOWN.

        The index walks in the order of the plane, which is not quite the order on the ground. So where distance is the
        order, as many rows are taken in the plane's order as are wanted, and then all that may be nearer than the
        farthest of these are put in the order of the ground.
        """
        conditions = " AND ".join(self._conditions())
        keys = "".join(f"{column.sql} AS key{place}, " for place, column in enumerate(self.columns))
        order = "".join(f"key{place} {column.direction}, " for place, column in enumerate(self.columns))
        metres = geo.METRES_SQL if self.center else "NULL::float8"
        reach, within = "", ""
        if self.center:
            within = f" AND r.position <@ circle({geo.CENTER_SQL}, %(reach)s)"
        if self.columns == (METRES,):
            reach = f"""reach AS MATERIALIZED (SELECT max(plane) * %(slack)s AS reach FROM (
                SELECT {geo.PLANE_SQL} AS plane FROM catalogue_restaurant r WHERE {conditions}{within}
                ORDER BY {geo.PLANE_SQL} LIMIT %(rows)s) AS nearest), """  # noqa: S608  # constants of ours
            within = f" AND r.position <@ circle({geo.CENTER_SQL}, (TABLE reach))"
        return f"""WITH {reach}page AS MATERIALIZED (
            SELECT {keys}r.id, {metres} AS metres FROM catalogue_restaurant r WHERE {conditions}{within}
            ORDER BY {order}r.id LIMIT %(rows)s){SHOWN}ORDER BY {order}page.id"""  # noqa: S608  # constants of ours

    def parameters(self) -> dict[str, Any]:
        """The values of the text."""
        query = self.query
        values: dict[str, Any] = {"now": self.now, "rows": query.limit + 1, "open_at": self.open_at, "q": query.q}
        if self.asked:
            values |= {"called": list(self.asked.cuisines), "rest": self.asked.rest}
        for name in FILTERS:
            value = getattr(query, name)
            values[name] = list(value) if isinstance(value, tuple) else value
        for place, key in enumerate(self.after):
            values[f"after{place}"] = key
        if self.center:
            radius_m = float(query.radius or RADIUS_M)
            point, scale = geo.project(self.center), geo.stretch(self.center, radius_m=radius_m)
            values |= {"lat": self.center.lat, "lng": self.center.lng, "x": point.x, "y": point.y, "radius": radius_m}
            values |= {"reach": radius_m * scale.high, "slack": scale.high / scale.low}
        return values

    def _conditions(self) -> list[str]:
        found = [LISTED]
        found += [sql for name, sql in FILTERS.items() if getattr(self.query, name) not in (None, ())]
        if self.query.q:
            found.append(HAS_LETTERS if self.by_letters else self._words())
        if self.open_at:
            found.append(IS_OPEN)
        if self.center:
            found.append(f"{geo.METRES_SQL} <= %(radius)s")
        if self.after:
            found.append(self._beyond())
        return found

    def _words(self) -> str:
        if self.asked is None:
            return HAS_WORDS
        called = f"{HAS_CUISINE} AND {HAS_REST}" if self.asked.rest else HAS_CUISINE
        return f"({HAS_WORDS} OR ({called}))"

    def _beyond(self) -> str:
        """What comes after the last row that was shown."""
        *keys, _ = self.after
        sql = f"r.id > %(after{len(keys)})s"
        for place in reversed(range(len(keys))):
            column, value = self.columns[place], f"%(after{place})s"
            comparison = ">" if column.direction == "ASC" else "<"
            sql = f"({column.sql} {comparison} {value} OR ({column.sql} = {value} AND {sql}))"
        # Said once more where an index can use it.
        first = self.columns[0]
        return f"{first.sql} {'>=' if first.direction == 'ASC' else '<='} %(after0)s AND {sql}"
