"""The SQL of a search: which rows match, which of them are next, and what is shown of them."""

import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Literal

from catalogue.search import offer_filter
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from catalogue.search.query import RADIUS_M, Query, Sort
from catalogue.search.text.vocabulary import Asked
from framework.api.pagination.cursor import Key

# Texts of nearest searches that a process keeps: writing one takes a twentieth of the time of a request.
MOST_TEXTS = 500
# The nearest kitchens of a few cuisines are found each by itself; of more, by walking past the others.
MOST_KITCHENS = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A part of the sort key.

    A rank that has moved since the first page counts as what it was: `sql` chooses, `held` is that of rows which have
    not moved, `former` that of those which have, in the form in which indexes know them.
    """

    sql: str
    direction: Literal["ASC", "DESC"] = "DESC"
    held: str = ""
    former: str = ""


def _ranked(name: str) -> Column:
    held, former = f"r.rank_{name}", f"r.former_{name}"
    return Column(f"CASE WHEN r.ranked_at <= %(now)s THEN {held} ELSE {former} END", held=held, former=former)


METRES = Column(distance.METRES_SQL, "ASC")
REVIEWS = _ranked("reviews")
STARS = _ranked("stars")
PERCENT = Column("deal.percent")

# The last word may be unfinished, a single letter may not: too many words begin with it. A tsquery's text with `:*`
# behind it is a tsquery again, whatever the caller wrote.
WORDS = """regexp_replace(nullif(plainto_tsquery('simple', fold(%(q)s))::text, ''),
    '([^ ''][^ '']''|[^ -~]'')$', '\\1:*')::tsquery"""
# In a statement that was planned for any words the sub-selects are worked out once, not for each row.
RELEVANCE_OF_WORDS = Column(
    f"CASE WHEN r.name = (SELECT fold(%(q)s)) THEN 3 WHEN ts_filter(r.document, '{{a}}') @@ (SELECT {WORDS}) THEN 2"
    " ELSE 1 END"
)
RELEVANCE_OF_LETTERS = Column("word_similarity((SELECT fold(%(q)s)), r.name)::float8")

HAS_WORDS = f"r.document @@ {WORDS}"
# "hot pot vesterbro": the words of the document, or the cuisine that some of them call and a document with the rest.
HAS_CUISINE = "r.cuisines && %(called)s::varchar[]"
HAS_REST = "r.document @@ plainto_tsquery('simple', fold(%(rest)s))"
HAS_LETTERS = "fold(%(q)s) <%% r.name"
# A closure outranks hours, also while the worker has not yet computed the spans anew.
IS_OPEN = "r.open_spans @> %(open_at)s::timestamptz AND NOT r.is_shut"
STAYS_OPEN = "r.open_spans @> tstzrange(%(open_at)s::timestamptz, %(open_until)s::timestamptz) AND NOT r.is_shut"
# The index finds what is about there, degrees decide.
IN_BOX = """r.position <@ box(point(%(left)s, %(bottom)s), point(%(right)s, %(top)s))
    AND r.longitude BETWEEN %(west)s AND %(east)s AND r.latitude BETWEEN %(south)s AND %(north)s"""
IN_REACH = f"position <@ circle({distance.CENTER_SQL}, %(reach)s)"
IN_RADIUS = f"{distance.METRES_SQL} <= %(radius)s"
# By the field of Query that each of them needs.
FILTERS = {
    "market": "r.market = %(market)s",
    # The document finds its words by an index; the comparison decides.
    "neighborhood": (
        "r.document @@ plainto_tsquery('simple', fold(%(neighborhood)s))"
        " AND r.neighborhood = (SELECT fold(%(neighborhood)s))"
    ),
    "cuisine_not": "NOT r.cuisines && %(cuisine_not)s::varchar[]",
    "tags": "r.tags @> %(tags)s::varchar[]",
    "price": "r.price_level = ANY(%(price)s::integer[])",
    "price_max": "r.price_level <= %(price_max)s::integer",
    "rating_min": "r.rating >= %(rating_min)s::numeric",
    "reviews_min": "r.review_count >= %(reviews_min)s::integer",
}
HAS_KITCHEN = "r.cuisines && %(cuisine)s::varchar[]"
# A kitchen knows these of its restaurant, so that others need not be read.
OF_KITCHENS = ("price", "price_max", "rating_min")
# Their index knows equality; of a list it makes a filter.
HAS_PRICE = "k.price_level = %(level)s::integer"

# Spans are in order, so the first that ends after now is open now or opens next. Looked up row by row, for the rows of
# a page alone: a third of what the operators of multiranges cost. As a table of its own all spans would be made of it.
SPAN = """LEFT JOIN LATERAL (
        SELECT lower(span) AS opens, upper(span) AS closes FROM (SELECT unnest(r.open_spans) AS span) AS each
        WHERE upper(span) > %(now)s::timestamptz LIMIT 1
    ) AS next ON true"""
SHOWN = """r.card, r.sources, r.timezone, r.is_shut, r.spans_until, r.open_spans IS NOT NULL, next.opens, next.closes,
    offer.percent, offer.time, offer.date, offer.id, offer.seats_left"""
# A plan that is to serve all values must not see them: PostgreSQL would find a plan for these alone a little cheaper,
# and make one for each question, which takes longer than finding. No plan depends on where a place is. The cast is
# said again for ANY, which would look for its values in the rows of a sub-select.
SEEN = re.compile(
    r"point\(%\(x\)s, %\(y\)s\)|cos\(radians\(%\(lat\)s\)\)|%\((?!lat|lng|reach|radius)\w+\)s(::\w+(?:\[\])?)?"
)


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
        if sort is Sort.OFFER:
            return PERCENT, REVIEWS
        if sort is Sort.BEST and self.query.q:
            return RELEVANCE_OF_LETTERS if self.by_letters else RELEVANCE_OF_WORDS, REVIEWS
        if sort is Sort.RATING:
            return STARS, REVIEWS
        if sort is Sort.DISTANCE or (sort is Sort.BEST and self.center):
            return (METRES,)
        return (REVIEWS,)

    @property
    def is_nearest(self) -> bool:
        """Whether the index of positions gives the order, about."""
        return self.columns == (METRES,) and self.query.bbox is None

    def nearest(self, rows: int) -> str:
        """Rows in the order of the plane, so many of each cuisine where a few are asked for.

        How many stands in the text: not knowing it, PostgreSQL would plan anew for each question. A row is its id, its
        metres, SHOWN, its distance on the plane, and its cuisine or NULL.
        """
        form = (rows, *self._form)
        sql = _texts.get(form)
        if sql is None:
            sql = self._nearest(rows)
            # Which index finds words depends on the words.
            if not (self.query.q or self.query.neighborhood):
                sql = SEEN.sub(r"(SELECT \g<0>)\1", sql)
            if len(_texts) >= MOST_TEXTS:
                _texts.clear()
            _texts[form] = sql
        return sql

    @property
    def _form(self) -> tuple[object, ...]:
        """All that the text of the nearest depends on: which values are given, and of which there are how many."""
        query, asked = self.query, self.asked
        given = [_is_given(value) for value in _values(query)]
        counts = len(query.price), min(len(query.cuisine), MOST_KITCHENS + 1), len(self.after)
        return (*given, *counts, query.sort, self.open_at is None, self.by_letters, asked and bool(asked.rest))

    def _nearest(self, rows: int) -> str:
        conditions = [*self._conditions(with_kitchens=True), *self._beyond(METRES.sql)]
        row = f"r.restaurant_id, {distance.METRES_SQL}, {SHOWN}"
        if not self._by_kitchens:
            return f"""SELECT {row}, {distance.PLANE_SQL} AS plane, NULL::varchar
                FROM {self._source} {self._beside} WHERE {_all(conditions)} AND r.{IN_REACH} AND {IN_RADIUS}
                ORDER BY plane LIMIT {rows:d}"""  # noqa: S608  # constants of ours
        return f"""SELECT near.* FROM unnest(%(cuisine)s::varchar[]) AS wanted (cuisine) CROSS JOIN LATERAL (
            SELECT {row}, k.position <-> {distance.CENTER_SQL} AS plane, wanted.cuisine
            FROM catalogue_kitchen k JOIN {self._source} ON r.restaurant_id = k.restaurant_id {self._beside}
            WHERE k.cuisine = wanted.cuisine AND k.{IN_REACH} AND {IN_RADIUS} AND {_all(conditions)}
            ORDER BY plane LIMIT {rows:d}) AS near"""  # noqa: S608  # constants of ours

    def ranked(self) -> str:
        """Rows in the order asked for; a row is its id, its metres, SHOWN, then its sort key.

        Within an area or among words all that match are put in order. Everywhere, an index of ranks is walked, and the
        few rows that have moved since the first page join in where they were.
        """
        columns = self.columns
        if self._is_bounded or not all(column.held for column in columns):
            page = self._ordered([column.sql for column in columns])
        else:
            held = self._ordered([column.held for column in columns], "r.ranked_at <= %(now)s")
            former = self._ordered([column.former for column in columns], "r.ranked_at > %(now)s")
            page = f"({held}) UNION ALL ({former}) ORDER BY {self._order()}, id LIMIT %(rows)s"
        keys = "".join(f", page.key{place}" for place in range(len(columns)))
        return f"""WITH page AS MATERIALIZED ({page}) SELECT page.id, page.metres, {SHOWN}{keys}
            FROM page JOIN catalogue_searchrow r ON r.restaurant_id = page.id {self._beside}
            ORDER BY {self._order()}, page.id"""  # noqa: S608  # constants of ours

    def matching(self, shown: str) -> str:
        """All that match, on whatever page, at most `rows` of them."""
        conditions = _all(self._conditions())
        return f"SELECT {shown} FROM {self._source} WHERE {conditions} LIMIT %(rows)s"  # noqa: S608  # constants of ours

    def parameters(self) -> dict[str, Any]:
        """The values of the texts, but for `rows`."""
        query = self.query
        values: dict[str, Any] = {"now": self.now, "open_at": self.open_at, "q": query.q}
        values["open_until"] = self.open_at and self.open_at + timedelta(minutes=query.open_for or 0)
        values["level"] = query.price[0] if len(query.price) == 1 else None
        values |= offer_filter.parameters(query)
        if self.asked:
            values |= {"called": list(self.asked.cuisines), "rest": self.asked.rest}
        for name in (*FILTERS, "cuisine"):
            if _is_given(value := self._value(name)):
                values[name] = list(value) if isinstance(value, tuple) else value
        for place, key in enumerate(self.after):
            values[f"after{place}"] = key
        if self.center:
            radius_m = float(query.radius or RADIUS_M)
            point, scale = distance.project(self.center), distance.stretch(self.center, radius_m=radius_m)
            values |= {"lat": self.center.lat, "lng": self.center.lng, "x": point.x, "y": point.y}
            values |= {"radius": radius_m, "reach": radius_m * scale.high}
        if query.bbox:
            box = query.bbox
            low, high = (
                distance.project(Location(box.south, box.west)),
                distance.project(Location(box.north, box.east)),
            )
            # A metre more for the rounding of floats.
            values |= {"left": low.x - 1, "bottom": low.y - 1, "right": high.x + 1, "top": high.y + 1}
            values |= {"west": box.west, "south": box.south, "east": box.east, "north": box.north}
        return values

    @property
    def _by_kitchens(self) -> bool:
        return self.is_nearest and 1 <= len(self.query.cuisine) <= MOST_KITCHENS

    @property
    def _is_bounded(self) -> bool:
        return bool(self.center or self.query.bbox or self.query.q or self.query.asks_for_offers)

    @property
    def _source(self) -> str:
        if self.query.sort is not Sort.OFFER:
            return "catalogue_searchrow r"
        best = offer_filter.best(self.query)
        return f"catalogue_searchrow r JOIN ({best}) AS deal ON deal.restaurant_id = r.restaurant_id"

    @property
    def _beside(self) -> str:
        """What is shown of a row beside its own columns."""
        return f"{SPAN} {offer_filter.shown(self.query)}"

    def _value(self, name: str) -> Any:
        return getattr(self.query, name)

    def _conditions(self, *, with_kitchens: bool = False) -> list[str]:
        """What a row has to fulfil; the area of a nearest search and its kitchens are said elsewhere."""
        query = self.query
        by_index = with_kitchens and self.is_nearest
        by_kitchens = by_index and self._by_kitchens
        found = [self._filter(name, by_kitchens=by_kitchens) for name in FILTERS if _is_given(self._value(name))]
        if query.cuisine and not by_kitchens:
            found.append(HAS_KITCHEN)
        if query.q:
            found.append(HAS_LETTERS if self.by_letters else self._words())
        if self.open_at:
            found.append(STAYS_OPEN if query.open_for else IS_OPEN)
        if query.asks_for_offers:
            found.append("NOT r.is_shut")
            if query.sort is not Sort.OFFER:
                found.append(offer_filter.fits(query))
        if query.bbox:
            found.append(IN_BOX)
        elif self.center and not by_index:
            found += [f"r.{IN_REACH}", IN_RADIUS]
        return found

    def _filter(self, name: str, *, by_kitchens: bool) -> str:
        if not (by_kitchens and name in OF_KITCHENS):
            return FILTERS[name]
        return HAS_PRICE if name == "price" and len(self.query.price) == 1 else FILTERS[name].replace("r.", "k.")

    def _words(self) -> str:
        if self.asked is None:
            return HAS_WORDS
        called = f"{HAS_CUISINE} AND {HAS_REST}" if self.asked.rest else HAS_CUISINE
        return f"({HAS_WORDS} OR ({called}))"

    def _ordered(self, keys: list[str], *more: str) -> str:
        conditions = [*self._conditions(), *more, *self._beyond(*keys)]
        shown = "".join(f"{key} AS key{place}, " for place, key in enumerate(keys))
        metres = distance.METRES_SQL if self.center else "NULL::float8"
        return f"""SELECT {shown}r.restaurant_id AS id, {metres} AS metres FROM {self._source}
            WHERE {_all(conditions)} ORDER BY {self._order()}, id LIMIT %(rows)s"""  # noqa: S608  # constants of ours

    def _order(self) -> str:
        return ", ".join(f"key{place} {column.direction}" for place, column in enumerate(self.columns))

    def _beyond(self, *keys: str) -> list[str]:
        """What comes after the last row that was shown; nothing on the first page."""
        if not self.after:
            return []
        sql = f"r.restaurant_id > %(after{len(keys)})s::uuid"
        for place in reversed(range(len(keys))):
            key, value = keys[place], f"%(after{place})s"
            comparison = ">" if self.columns[place].direction == "ASC" else "<"
            sql = f"({key} {comparison} {value} OR ({key} = {value} AND {sql}))"
        # Said once more where an index can use it.
        return [f"{keys[0]} {'>=' if self.columns[0].direction == 'ASC' else '<='} %(after0)s", sql]


_values = attrgetter(*(field.name for field in fields(Query)), "tags")
_texts: dict[tuple[object, ...], str] = {}


def _is_given(value: Any) -> bool:
    return value is not None and value != () and value != []


def _all(conditions: list[str]) -> str:
    return " AND ".join(conditions) or "true"
