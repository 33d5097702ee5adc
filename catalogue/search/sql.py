"""The SQL of a search: filters, ranking, keyset pagination and the columns of a hit."""

import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Literal
from uuid import UUID

from catalogue.search import offer_filter
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from catalogue.search.query import DEFAULT_RADIUS_M, Query, Sort
from catalogue.search.text.understanding import Term
from framework.api.pagination.cursor import Key

# Texts of nearest-first statements per process: composing one takes a twentieth of the time of a request.
MAX_CACHED_STATEMENTS = 500
# The nearest restaurants of a few cuisines are found by one index scan each; of more, by filtering a scan of all.
MAX_CUISINE_SCANS = 5


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column of the sort key.

    A rank that has changed since the first page counts with its former value: `sql` selects between the two. `current`
    is the expression for rows whose rank has not changed, `former` for the others, each as an index stores it.
    """

    sql: str
    direction: Literal["ASC", "DESC"] = "DESC"
    current: str = ""
    former: str = ""


def _rank_column(name: str) -> SortColumn:
    current, former = f"r.rank_{name}", f"r.former_{name}"
    sql = f"CASE WHEN r.ranked_at <= %(now)s THEN {current} ELSE {former} END"
    return SortColumn(sql, current=current, former=former)


METRES = SortColumn(distance.METRES_SQL, "ASC")
REVIEWS = _rank_column("reviews")
STARS = _rank_column("stars")
PERCENT = SortColumn("deal.percent")

# The last word may be a prefix, except a single letter, which begins too many words. The text of a tsquery with `:*`
# appended is a valid tsquery, whatever the input.
PREFIX_QUERY = """regexp_replace(nullif(plainto_tsquery('simple', fold({text}))::text, ''),
    '([^ ''][^ '']''|[^ -~]'')$', '\\1:*')::tsquery"""
TSQUERY = PREFIX_QUERY.format(text="%(q)s")
# A generic plan evaluates the sub-selects once instead of once per row.
WORD_RELEVANCE = SortColumn(
    f"CASE WHEN r.name = (SELECT fold(%(q)s)) THEN 3 WHEN ts_filter(r.document, '{{a}}') @@ (SELECT {TSQUERY}) THEN 2"
    " ELSE 1 END"
)
TRIGRAM_RELEVANCE = SortColumn("word_similarity((SELECT fold(%(q)s)), r.name)::float8")

MATCHES_TRIGRAMS = "fold(%(q)s) <%% r.name"
# A closure overrides hours, even before the worker has recomputed the intervals.
IS_OPEN = "r.open_intervals @> %(open_at)s::timestamptz AND NOT r.is_shut"
STAYS_OPEN = "r.open_intervals @> tstzrange(%(open_at)s::timestamptz, %(open_until)s::timestamptz) AND NOT r.is_shut"
# Hours that may be open at some moment: they are evaluated one by one.
MAY_BE_OPEN = "(r.open_intervals IS NOT NULL OR r.intervals_missing) AND NOT r.is_shut"
# The index finds candidates on the plane, the comparison of degrees decides.
IN_BOX = """r.position <@ box(point(%(left)s, %(bottom)s), point(%(right)s, %(top)s))
    AND r.longitude BETWEEN %(west)s AND %(east)s AND r.latitude BETWEEN %(south)s AND %(north)s"""
IN_CIRCLE = f"position <@ circle({distance.CENTER_SQL}, %(reach)s)"
IN_RADIUS = f"{distance.METRES_SQL} <= %(radius)s"
# Conditions by the field of Query that they need.
FILTERS = {
    "market": "r.market = %(market)s",
    # The index on the document finds candidates, the comparison decides.
    "neighborhood": (
        "r.document @@ plainto_tsquery('simple', fold(%(neighborhood)s))"
        " AND r.neighborhood = (SELECT fold(%(neighborhood)s))"
    ),
    "cuisine_not": "NOT r.cuisines && %(cuisine_not)s::varchar[]",
    "tags": "r.tags @> %(tags)s::varchar[]",
    "limited_tags": (
        "(SELECT bool_and(r.tags && ARRAY[key, key || ':limited']::varchar[])"
        " FROM unnest(%(limited_tags)s::varchar[]) AS key)"
    ),
    "kind_tags": "r.tags && %(kind_tags)s::varchar[]",
    "excluded_kind_tags": "NOT r.tags && %(excluded_kind_tags)s::varchar[]",
    "price": "r.price_level = ANY(%(price)s::integer[])",
    "price_max": "r.price_level <= %(price_max)s::integer",
    "rating_min": "r.rating >= %(rating_min)s::numeric",
    "reviews_min": "r.review_count >= %(reviews_min)s::integer",
}
HAS_CUISINE = "r.cuisines && %(cuisine)s::varchar[]"
# Columns that catalogue_kitchen (a row for each restaurant and cuisine) has too, so that other rows are not read.
KITCHEN_COLUMNS = ("price", "price_max", "rating_min")
# The index of catalogue_kitchen supports equality, but treats a list as a filter.
HAS_PRICE = "k.price_level = %(level)s::integer"

# The first interval that ends after now, in which the restaurant is open or which begins next: intervals are sorted.
# Looked up for the rows of a page only, this takes a third of the time of the multirange operators.
NEXT_INTERVAL = """LEFT JOIN LATERAL (
        SELECT lower(span) AS opens, upper(span) AS closes FROM (SELECT unnest(r.open_intervals) AS span) AS each
        WHERE upper(span) > %(now)s::timestamptz LIMIT 1
    ) AS next ON true"""
# Of the market; a join of a few rows, which needs no other query.
CITY = "LEFT JOIN catalogue_market AS area ON area.slug = r.market"
HIT_COLUMNS = """r.card, r.sources, area.name, area.country, r.timezone, r.is_shut, r.intervals_until,
    r.open_intervals IS NOT NULL, next.opens, next.closes, offer.percent, offer.time, offer.date, offer.id,
    offer.seats_left"""
# PostgreSQL must not see the values of a statement with a generic plan: it would prefer a slightly cheaper custom plan
# and plan each query again, which takes longer than executing it. So values are hidden in sub-selects, except for the
# position, on which no plan depends. ANY needs its cast outside, too, or it would compare with the rows of the
# sub-select.
HIDDEN_VALUES = re.compile(
    r"point\(%\(x\)s, %\(y\)s\)|cos\(radians\(%\(lat\)s\)\)|%\((?!lat|lng|reach|radius)\w+\)s(::\w+(?:\[\])?)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStatement:
    """A resolved query as SQL.

    `open_at` selects by the stored open intervals. `may_be_open` keeps restaurants whose hours are known, `only` those
    with these ids. Each hit has all `terms`, the words of `q` and what they name. `by_trigrams` compares trigrams of
    names, for words that no document has. `after` is the keyset of the last row of the previous page: its sort key and
    id.
    """

    query: Query
    center: Location | None
    open_at: datetime | None
    now: datetime
    terms: tuple[Term, ...] = ()
    after: tuple[Key, ...] = ()
    by_trigrams: bool = False
    may_be_open: bool = False
    only: tuple[UUID, ...] | None = None

    @property
    def open_until(self) -> datetime | None:
        return self.open_at and self.open_at + timedelta(minutes=self.query.open_for or 0)

    @property
    def columns(self) -> tuple[SortColumn, ...]:
        """The sort key, without the id that completes it."""
        sort = self.query.sort
        if sort is Sort.OFFER:
            return PERCENT, REVIEWS
        if sort is Sort.BEST and self.query.q:
            return TRIGRAM_RELEVANCE if self.by_trigrams else WORD_RELEVANCE, REVIEWS
        if sort is Sort.RATING:
            return STARS, REVIEWS
        if sort is Sort.DISTANCE or (sort is Sort.BEST and self.center):
            return (METRES,)
        return (REVIEWS,)

    @property
    def is_nearest_first(self) -> bool:
        """Whether the index on positions returns rows in about the order of the statement."""
        return self.columns == (METRES,) and self.query.bbox is None

    def nearest(self, rows: int) -> str:
        """Return SQL for the nearest rows on the plane, this many for each of a few cuisines.

        The number is part of the text, because the generic plan depends on it. A row is the id, the metres,
        HIT_COLUMNS, the distance on the plane, and the cuisine or NULL.
        """
        query = self.query
        # Everything that the text depends on: which values are given, and how many of some.
        given = [_is_given(value) for value in _values(query)]
        counts = len(query.price), min(len(query.cuisine), MAX_CUISINE_SCANS + 1), len(self.after)
        terms = tuple((bool(term.cuisines), bool(term.tags), term.is_named) for term in self.terms)
        flags = self.open_at is None, self.may_be_open, self.by_trigrams
        form = rows, *given, *counts, query.sort, *flags, terms
        sql = _statements.get(form)
        if sql is None:
            sql = self._nearest(rows)
            # Which index finds words depends on the words, so these statements need custom plans.
            if not (query.q or query.neighborhood):
                sql = HIDDEN_VALUES.sub(r"(SELECT \g<0>)\1", sql)
            if len(_statements) >= MAX_CACHED_STATEMENTS:
                _statements.clear()
            _statements[form] = sql
        return sql

    def _nearest(self, rows: int) -> str:
        conditions = [*self._conditions(by_position=True), *self._keyset(METRES.sql)]
        columns = f"r.restaurant_id, {distance.METRES_SQL}, {HIT_COLUMNS}"
        if not self._scans_cuisines:
            return f"""SELECT {columns}, {distance.PLANE_SQL} AS plane, NULL::varchar
                FROM {self._source} {self._joins} WHERE {_all(conditions)} AND r.{IN_CIRCLE} AND {IN_RADIUS}
                ORDER BY plane LIMIT {rows:d}"""  # noqa: S608  # built from constants
        return f"""SELECT near.* FROM unnest(%(cuisine)s::varchar[]) AS requested (cuisine) CROSS JOIN LATERAL (
            SELECT {columns}, k.position <-> {distance.CENTER_SQL} AS plane, requested.cuisine
            FROM catalogue_kitchen k JOIN {self._source} ON r.restaurant_id = k.restaurant_id {self._joins}
            WHERE k.cuisine = requested.cuisine AND k.{IN_CIRCLE} AND {IN_RADIUS} AND {_all(conditions)}
            ORDER BY plane LIMIT {rows:d}) AS near"""  # noqa: S608  # built from constants

    def ranked(self) -> str:
        """Return SQL for rows in the requested order; a row is the id, the metres, HIT_COLUMNS, then the sort key.

        Within an area or with words all matches are sorted. Otherwise an index of ranks is scanned, and the few rows
        whose rank has changed since the first page are merged in at their former rank.
        """
        columns = self.columns
        is_bounded = self.center or self.query.bbox or self.query.q or self.query.has_offer_filter
        if is_bounded or not all(column.current for column in columns):
            page = self._sorted_page([column.sql for column in columns])
        else:
            current = self._sorted_page([column.current for column in columns], "r.ranked_at <= %(now)s")
            former = self._sorted_page([column.former for column in columns], "r.ranked_at > %(now)s")
            page = f"({current}) UNION ALL ({former}) ORDER BY {self._order()}, id LIMIT %(rows)s"
        keys = "".join(f", page.key{number}" for number in range(len(columns)))
        return f"""WITH page AS MATERIALIZED ({page}) SELECT page.id, page.metres, {HIT_COLUMNS}{keys}
            FROM page JOIN catalogue_searchrow r ON r.restaurant_id = page.id {self._joins}
            ORDER BY {self._order()}, page.id"""  # noqa: S608  # built from constants

    def matching(self, columns: str) -> str:
        """Return SQL for at most `rows` of all matches."""
        conditions = _all(self._conditions())
        return f"SELECT {columns} FROM {self._source} WHERE {conditions} LIMIT %(rows)s"  # noqa: S608  # built from constants

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the SQL, except `rows`."""
        query = self.query
        values: dict[str, Any] = {"now": self.now, "open_at": self.open_at, "q": query.q}
        values["open_until"] = self.open_until
        values["only"] = None if self.only is None else list(self.only)
        values["level"] = query.price[0] if len(query.price) == 1 else None
        values |= offer_filter.parameters(query)
        for number, term in enumerate(self.terms):
            values |= {
                f"term{number}": term.text,
                f"cuisines{number}": list(term.cuisines),
                f"tags{number}": list(term.tags),
            }
        for name in (*FILTERS, "cuisine"):
            if _is_given(value := getattr(query, name)):
                values[name] = list(value) if isinstance(value, tuple) else value
        for number, key in enumerate(self.after):
            values[f"after{number}"] = key
        if self.center:
            radius_m = float(query.radius or DEFAULT_RADIUS_M)
            values |= distance.circle_parameters(self.center, radius_m=radius_m) | {"radius": radius_m}
        if box := query.bbox:
            low = distance.project_mercator(Location(box.south, box.west))
            high = distance.project_mercator(Location(box.north, box.east))
            # One metre more for the rounding of floats.
            values |= {"left": low.x - 1, "bottom": low.y - 1, "right": high.x + 1, "top": high.y + 1}
            values |= {"west": box.west, "south": box.south, "east": box.east, "north": box.north}
        return values

    @property
    def _scans_cuisines(self) -> bool:
        return self.is_nearest_first and 1 <= len(self.query.cuisine) <= MAX_CUISINE_SCANS

    @property
    def _source(self) -> str:
        if self.query.sort is not Sort.OFFER:
            return "catalogue_searchrow r"
        best = offer_filter.best_discounts(self.query)
        return f"catalogue_searchrow r JOIN ({best}) AS deal ON deal.restaurant_id = r.restaurant_id"

    @property
    def _joins(self) -> str:
        return f"{CITY} {NEXT_INTERVAL} {offer_filter.offer_join(self.query)}"

    def _conditions(self, *, by_position: bool = False) -> list[str]:
        """Return the filters; `by_position` leaves out the area and the cuisines, which `_nearest` adds."""
        query = self.query
        scans_cuisines = by_position and self._scans_cuisines
        conditions = [
            self._kitchen_filter(name) if scans_cuisines and name in KITCHEN_COLUMNS else FILTERS[name]
            for name in FILTERS
            if _is_given(getattr(query, name))
        ]
        if query.cuisine and not scans_cuisines:
            conditions.append(HAS_CUISINE)
        conditions += [MATCHES_TRIGRAMS] if self.by_trigrams else self._terms_conditions()
        if self.open_at:
            conditions.append(STAYS_OPEN if query.open_for else IS_OPEN)
        if self.may_be_open:
            conditions.append(MAY_BE_OPEN)
        if self.only is not None:
            conditions.append("r.restaurant_id = ANY(%(only)s::uuid[])")
        if query.has_offer_filter:
            conditions.append("NOT r.is_shut")
            if query.sort is not Sort.OFFER:
                conditions.append(offer_filter.has_matching_offer(query))
        if query.bbox:
            conditions.append(IN_BOX)
        elif self.center and not by_position:
            conditions += [f"r.{IN_CIRCLE}", IN_RADIUS]
        return conditions

    def _terms_conditions(self) -> list[str]:
        """Return a condition for each term: its words are in the document, or it names a cuisine or a tag."""
        conditions = []
        for number, term in enumerate(self.terms):
            is_unfinished = number == len(self.terms) - 1 and not term.is_named
            words = f"%(term{number})s"
            query = PREFIX_QUERY.format(text=words) if is_unfinished else f"plainto_tsquery('simple', fold({words}))"
            ways = [f"r.document @@ {query}"]
            if term.cuisines:
                ways.append(f"r.cuisines && %(cuisines{number})s::varchar[]")
            if term.tags:
                ways.append(f"r.tags && %(tags{number})s::varchar[]")
            conditions.append(f"({' OR '.join(ways)})")
        return conditions

    def _kitchen_filter(self, name: str) -> str:
        return HAS_PRICE if name == "price" and len(self.query.price) == 1 else FILTERS[name].replace("r.", "k.")

    def _sorted_page(self, keys: list[str], *more: str) -> str:
        conditions = [*self._conditions(), *more, *self._keyset(*keys)]
        columns = "".join(f"{key} AS key{number}, " for number, key in enumerate(keys))
        metres = distance.METRES_SQL if self.center else "NULL::float8"
        return f"""SELECT {columns}r.restaurant_id AS id, {metres} AS metres FROM {self._source}
            WHERE {_all(conditions)} ORDER BY {self._order()}, id LIMIT %(rows)s"""  # noqa: S608  # built from constants

    def _order(self) -> str:
        return ", ".join(f"key{number} {column.direction}" for number, column in enumerate(self.columns))

    def _keyset(self, *keys: str) -> list[str]:
        """Return the conditions for rows after the keyset `after`; none on the first page."""
        if not self.after:
            return []
        sql = f"r.restaurant_id > %(after{len(keys)})s::uuid"
        for number in reversed(range(len(keys))):
            key, value = keys[number], f"%(after{number})s"
            comparison = ">" if self.columns[number].direction == "ASC" else "<"
            sql = f"({key} {comparison} {value} OR ({key} = {value} AND {sql}))"
        # The first condition is implied by the second, and usable by an index.
        return [f"{keys[0]} {'>=' if self.columns[0].direction == 'ASC' else '<='} %(after0)s", sql]


_values = attrgetter(*(field.name for field in fields(Query)), "tags", "limited_tags")
_statements: dict[tuple[object, ...], str] = {}


def _is_given(value: Any) -> bool:
    return value is not None and value != () and value != []


def _all(conditions: list[str]) -> str:
    return " AND ".join(conditions) or "true"
