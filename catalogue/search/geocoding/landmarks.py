"""From a name to a place: what `near` means, and the search of the landmark dictionary."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from catalogue import attribution
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from catalogue.search.text.vocabulary import Names
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import AttributedListing, Cursor
from framework.errors import ErrorCode, InvalidRequest
from framework.public_ids import encode

MOST_ALTERNATIVES = 5
# "San Francisco", "New York City"; each cut costs a look-up.
MOST_CITY_WORDS = 3
# The likeness of what is written as the name is, a letter aside; what is less likely is another place.
AS_IT_IS_SPELT = 1.9
# A look-up by place alone lists what a walk or a short ride reaches.
AROUND_M = 20_000.0
# Of the landmark that a page ended with, in the order of a look-up.
KEYS = ("unlikeness", "metres", "outside", "unprominence", "name", "id")


class PlaceNotResolved(InvalidRequest):
    """Nothing that we know has this name."""

    code = ErrorCode.PLACE_NOT_RESOLVED


@dataclass(frozen=True, slots=True)
class Place:
    """A landmark, or a restaurant that was named as one: `kind` is a Landmark.Kind or "restaurant"."""

    id: str
    name: str
    kind: str
    market: str | None
    lat: float
    lng: float

    @property
    def location(self) -> Location:
        """Where it is."""
        return Location(self.lat, self.lng)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What `near` was taken to mean, and what else it could have meant, likeliest first."""

    place: Place
    alternatives: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A landmark as the dictionary lists it; `distance_m` is None without a place to measure from."""

    place: Place
    wikidata: str | None
    names: tuple[str, ...]
    distance_m: int | None


# A reading of `near` is a name and the market that its place has to be in: the whole text is one, and so is what
# stands before each name of a city of ours in it. Each step is taken only when those before it found nothing;
# PostgreSQL skips a step whose NOT EXISTS is false. The exact name of a restaurant goes before the begun word and the
# misspelt name of a landmark, as an exact answer is the surer one. Fewer than three letters begin or resemble too
# much, and a text of more than sixty takes too long to compare. A slip of the hand (one letter in five, two in ten)
# is nearer than any words in common. Of the last step, what is less than two thirds like the reading, or has not the
# house number that the reading has, resolves nothing: it is for "did you mean". Letters index LIKE, whose pattern they
# see when it runs, and not ^@; restaurants are looked up in the rows of lists, which have the folded names.
RESOLVE = """
WITH cut AS MATERIALIZED (
    SELECT DISTINCT fold(part.head) AS name, coalesce(%(market)s, city.market) AS market
    FROM unnest(%(heads)s::text[], %(tails)s::text[]) AS part (head, tail) CROSS JOIN LATERAL (
        SELECT l.market_id AS market FROM catalogue_landmarkname n JOIN catalogue_landmark l ON l.id = n.landmark_id
        WHERE n.folded = fold(part.tail) AND l.kind = 'city' AND l.market_id IS NOT NULL
        UNION SELECT m.slug FROM catalogue_market m WHERE fold(part.tail) IN (m.slug, fold(m.name))
    ) AS city
    WHERE fold(part.head) <> ''
), reading AS MATERIALIZED (
    SELECT fold(%(near)s) AS name, %(market)s::text AS market, true AS whole, NOT EXISTS (SELECT FROM cut) AS narrowest
    WHERE fold(%(near)s) <> ''
    UNION ALL
    SELECT name, market, false, true FROM cut
), exact AS MATERIALIZED (
    SELECT n.landmark_id, 1.0::float8 AS likeness
    FROM reading JOIN catalogue_landmarkname n ON n.folded = reading.name
        JOIN catalogue_landmark l ON l.id = n.landmark_id
    WHERE reading.market IS NULL OR l.market_id = reading.market
), begun AS MATERIALIZED (
    SELECT n.landmark_id, reading.whole, CASE WHEN n.folded ^@ (reading.name || ' ') THEN 1.0 ELSE 0.5 END::float8
        AS likeness
    FROM reading JOIN catalogue_landmarkname n
            ON n.folded LIKE regexp_replace(reading.name, '([\\\\%%_])', '\\\\\\1', 'g') || '%%'
        JOIN catalogue_landmark l ON l.id = n.landmark_id
    WHERE char_length(reading.name) >= 3 AND (reading.market IS NULL OR l.market_id = reading.market)
      AND NOT EXISTS (SELECT FROM exact)
), named AS MATERIALIZED (
    SELECT r.restaurant_id AS id, max(r.review_count) AS weight
    FROM reading CROSS JOIN LATERAL (
        (
            SELECT restaurant_id, review_count FROM catalogue_searchrow
            WHERE name = reading.name AND position IS NOT NULL
                AND (reading.market IS NULL OR market = reading.market)
        )
        UNION ALL (
            SELECT restaurant_id, review_count FROM catalogue_searchrow
            WHERE line1 IN (reading.name, CASE WHEN reading.narrowest THEN fold(%(line1)s) END)
                AND position IS NOT NULL AND (reading.market IS NULL OR market = reading.market)
        )
    ) AS r
    WHERE NOT EXISTS (SELECT FROM exact) AND NOT EXISTS (SELECT FROM begun WHERE whole AND likeness = 1)
    GROUP BY r.restaurant_id ORDER BY weight DESC, id LIMIT %(most)s
), alike AS MATERIALIZED (
    SELECT n.landmark_id, likeness, (slips <= forgiven OR (likeness > 0.66 AND reading.narrowest))
        AND regexp_split_to_array(n.folded, '[^0-9]+') @> numbers
        AND (reading.market IS NULL OR l.market_id = reading.market) AS resolves
    FROM reading JOIN catalogue_landmarkname n ON reading.name <%% n.folded OR reading.name %% n.folded
        JOIN catalogue_landmark l ON l.id = n.landmark_id
        CROSS JOIN LATERAL (SELECT levenshtein_less_equal(reading.name, n.folded, 2),
            least(char_length(reading.name) / 5, 2), ARRAY(SELECT unnest(regexp_matches(reading.name, '[0-9]+', 'g')))
        ) AS compared (slips, forgiven, numbers)
        CROSS JOIN LATERAL (SELECT CASE WHEN slips <= forgiven THEN 2.0 - slips / 10.0
            ELSE greatest(word_similarity(reading.name, n.folded), similarity(reading.name, n.folded)) END::float8
        ) AS measured (likeness)
    WHERE char_length(reading.name) BETWEEN 3 AND 60
      AND NOT EXISTS (SELECT FROM exact) AND NOT EXISTS (SELECT FROM begun) AND NOT EXISTS (SELECT FROM named)
), meant AS (
    SELECT landmark_id, max(likeness) AS likeness, resolves
    FROM (
        SELECT landmark_id, likeness, true AS resolves FROM exact
        UNION ALL SELECT landmark_id, likeness, true FROM begun WHERE NOT EXISTS (SELECT FROM named)
        UNION ALL SELECT landmark_id, likeness, resolves FROM alike
    ) AS step
    GROUP BY landmark_id, resolves
)
SELECT * FROM (
    SELECT l.id, l.name, l.kind, l.market_id, l.latitude, l.longitude, resolves, likeness,
           l.market_id IS NOT NULL AS covered, l.prominence AS weight
    FROM meant JOIN catalogue_landmark l ON l.id = meant.landmark_id
    UNION ALL
    SELECT r.id, r.name, 'restaurant', r.market_id, r.latitude, r.longitude, true, 1, true, named.weight
    FROM named JOIN catalogue_restaurant r ON r.id = named.id
) AS place
ORDER BY resolves DESC, resolves AND covered DESC, likeness DESC, covered DESC, weight DESC, name, id LIMIT %(most)s
"""


def resolve(near: str, *, market: str | None) -> Resolution:
    """Find the place that a name means: of several, one in a market of ours, then the likest, then the most prominent.

    Names and spellings of landmarks, neighbourhoods and cities come first, whole before begun; then the name or the
    address line of a restaurant; then landmarks with a begun word, then misspelt ones. `market` keeps its places only,
    and so does a city of ours behind the name ("Central Park, New York", "nyhavn in copenhagen"). One query. Raises
    PlaceNotResolved.
    """
    ends = _ends(near)
    parameters = {
        "near": near,
        "heads": [head for head, _ in ends],
        "tails": [tail for _, tail in ends],
        # An address is often written with its town behind it.
        "line1": near.partition(",")[0].strip(),
        "market": market,
        "most": MOST_ALTERNATIVES + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(RESOLVE, parameters)
        rows = cursor.fetchall()
    places = [_place(*row[:6]) for row in rows if row[6]]
    if not places:
        likely = list(dict.fromkeys(row[1] for row in rows if market in (None, row[3])))
        hint = (
            f" Did you mean {' or '.join(likely)}? Ask again with one of these names,"
            if likely
            else f"{_elsewhere(rows)} Name a landmark, a neighborhood, a city or a restaurant,"
        )
        raise PlaceNotResolved(
            f"No place called `{near}` is known here.{hint} or give the point itself as `ll`: latitude,longitude.",
            param="near",
            extra={"suggestions": likely},
        )
    return Resolution(place=places[0], alternatives=tuple(places[1:]))


def _elsewhere(rows: Sequence[tuple[Any, ...]]) -> str:
    """Where the place is that would have been meant without the market that was given."""
    if not rows or rows[0][7] < AS_IT_IS_SPELT:
        return ""
    _, name, _, market, *_ = rows[0]
    return f" {name} lies in {market}: ask there, or leave `market` out." if market else ""


def _ends(near: str) -> list[tuple[str, str]]:
    """Each way to cut a text into a name and what may be the city behind it: at commas, else between words."""
    separator = "," if "," in near else " "
    parts = near.split(separator)
    if separator == ",":
        return [(",".join(parts[:cut]).strip(), parts[cut].strip()) for cut in range(1, len(parts))]
    cuts = range(max(1, len(parts) - MOST_CITY_WORDS), len(parts))
    return [(" ".join(parts[:cut]).removesuffix(" in"), " ".join(parts[cut:])) for cut in cuts]


def _place(row_id: UUID, name: str, kind: str, market: str | None, lat: float, lng: float) -> Place:
    prefix = "rst" if kind == "restaurant" else "lm"
    return Place(id=encode(prefix, row_id), name=name, kind=kind, market=market, lat=lat, lng=lng)


# All parts of the order ascend, so that one comparison finds the next page.
ORDER_SQL = "unlikeness, metres, outside, -prominence, name, id"
LOOK_UP = f"""
WITH matching AS (
    SELECT n.landmark_id, max(CASE
        WHEN n.folded = fold(%(q)s) THEN 3
        WHEN n.folded ^@ fold(%(q)s) THEN 2
        ELSE word_similarity(fold(%(q)s), n.folded) END) AS likeness
    FROM catalogue_landmarkname n
    WHERE fold(%(q)s) <> '' AND (n.folded ^@ fold(%(q)s) OR fold(%(q)s) <%% n.folded)
    GROUP BY n.landmark_id
), found AS (
    SELECT r.id, r.name, r.kind, r.market_id, r.latitude, r.longitude, r.wikidata, r.prominence,
        -coalesce(matching.likeness, 0)::float8 AS unlikeness, (r.market_id IS NULL)::int AS outside,
        CASE WHEN %(lat)s::float8 IS NOT NULL THEN {distance.METRES_SQL} ELSE 0 END AS metres
    FROM catalogue_landmark r LEFT JOIN matching ON matching.landmark_id = r.id
    WHERE CASE WHEN %(q)s::text IS NULL THEN true ELSE matching.landmark_id IS NOT NULL END
      AND (%(reach)s::float8 IS NULL OR r.position <@ circle({distance.CENTER_SQL}, %(reach)s))
      AND (%(kinds)s::text[] IS NULL OR r.kind = ANY (%(kinds)s::text[]))
      AND (%(market)s::text IS NULL OR r.market_id = %(market)s)
)
SELECT id, name, kind, market_id, latitude, longitude, wikidata,
       ARRAY(SELECT n.name FROM catalogue_landmarkname n WHERE n.landmark_id = found.id ORDER BY n.name),
       unlikeness, metres, outside, -prominence
FROM found
WHERE NOT %(goes_on)s OR ({ORDER_SQL}) > (
    %(unlikeness)s::float8, %(metres)s::float8, %(outside)s::int, %(unprominence)s::int, %(name)s::text, %(id)s::uuid
)
ORDER BY {ORDER_SQL} LIMIT %(rows)s
"""  # noqa: S608  # the fragments are constants


def look_up(
    *,
    q: str | None = None,
    ll: tuple[float, float] | None = None,
    kind: Sequence[str] = (),
    market: str | None = None,
    limit: int,
    cursor: str | None = None,
    now: datetime,
) -> AttributedListing[Found]:
    """Search the dictionary: best matches of `q` first (whole, begun, misspelt), equal ones nearest to `ll` first.

    Without `q` those within 20 km of `ll`, nearest first; without either all of them, the most prominent first. Of
    these kinds and in this market, where they are given. Three queries, and one for an unknown market. Raises
    InvalidCursor and InvalidRequest.
    """
    if market is not None:
        Names.load().market(market)
    question = pagination_cursor.fingerprint("landmarks", q, ll, sorted(kind), market)
    now = now.replace(microsecond=0)
    begin = (
        pagination_cursor.decode_cursor(cursor, question=question, now=now) if cursor else Cursor(after=(), as_of=now)
    )
    center = Location(*ll) if ll else None
    point = distance.project(center) if center else None
    parameters: dict[str, Any] = {
        "q": q,
        "lat": center.lat if center else None,
        "lng": center.lng if center else None,
        "x": point.x if point else None,
        "y": point.y if point else None,
        "reach": AROUND_M * distance.stretch(center, radius_m=AROUND_M).high if center and not q else None,
        "kinds": list(kind) or None,
        "market": market,
        "goes_on": bool(begin.after),
        **dict(zip(KEYS, begin.after or [None] * len(KEYS), strict=True)),
        "rows": limit + 1,
    }
    with connection.cursor() as db:
        db.execute(LOOK_UP, parameters)
        rows = db.fetchall()
    found = [
        Found(
            place=_place(*row[:6]),
            wikidata=row[6],
            names=tuple(row[7]),
            distance_m=round(row[9]) if center else None,
        )
        for row in rows[:limit]
    ]
    more = None
    if len(rows) > limit:
        last = rows[limit - 1]
        more = pagination_cursor.encode_cursor(
            (*last[8:12], last[1], str(last[0])), as_of=begin.as_of, question=question
        )
    return AttributedListing(
        rows=found,
        limit=limit,
        next_cursor=more,
        as_of=begin.as_of,
        attribution=attribution.of_landmarks([row[0] for row in rows[:limit]]),
    )
