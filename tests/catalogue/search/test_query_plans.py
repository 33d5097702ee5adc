"""How PostgreSQL finds the pages of a search: by which index, and never by reading the whole table."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from psycopg import ClientCursor
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH, MAX_CACHED_STATEMENT_PARAMS

from catalogue import search
from catalogue.search import BoundingBox, Query, Sort
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from catalogue.search.sql import SearchStatement
from catalogue.search.text.understanding import Term
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI

pytestmark = pytest.mark.django_db

# The rows of lists alone, without what they are made from: that would take minutes. A grid of 20 by 12 km.
ROWS = """
INSERT INTO catalogue_searchrow (restaurant_id, market, position, latitude, longitude, timezone, is_shut, cuisines,
    price_level, rating, review_count, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at, tags,
    neighborhood, name, line1, document, sources, card, open_intervals, intervals_until)
SELECT gen_random_uuid(), 'market-' || n %% 10, mercator(lat, lng), lat, lng, 'Europe/Copenhagen', false,
    ARRAY['seafood', 'kitchen-' || n %% 40], n %% 4 + 1, 4.5, n %% 977, n %% 50, n %% 977, 0, 0, 'epoch', '{}',
    'quarter ' || n %% 90, 'some ' || md5(n::text), 'street ' || n, to_tsvector('simple', 'some ' || md5(n::text)),
    '{osm}', '"slug":"some-' || n || '"', tstzmultirange(tstzrange('2026-11-21T12:00Z', '2026-11-22T02:00Z')),
    '2026-12-06T18:00Z'
FROM (
    SELECT n, 55.67 + (n %% 200 - 100) * 0.001 AS lat, 12.56 + (n / 200 - 50) * 0.002 AS lng
    FROM generate_series(1, 20000) AS n
) AS grid
"""
KITCHENS = """
INSERT INTO catalogue_kitchen (restaurant_id, cuisine, position, price_level, rating)
SELECT restaurant_id, unnest(cuisines), position, price_level, rating FROM catalogue_searchrow
"""


@pytest.fixture
def _many() -> None:
    """20,000 rows of lists."""
    builders.cuisine()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("SET LOCAL statement_timeout = 0")
        # It takes long to fill, and none of the plans needs it.
        cursor.execute("DROP INDEX search_by_name_trigrams")
        cursor.execute(ROWS, [])
        cursor.execute(KITCHENS, [])
        cursor.execute("ANALYZE catalogue_searchrow, catalogue_kitchen")


def plan(**question: Any) -> str:
    """How PostgreSQL would find a page, planned as it is in earnest: the nearest for any values, others for theirs."""
    query = Query(**question)
    center = Location(*query.ll) if query.ll else None
    terms = (Term(query.q),) if query.q else ()
    statement = SearchStatement(query=query, center=center, open_at=NOW if query.open else None, now=NOW, terms=terms)
    sql = statement.nearest(21) if statement.is_nearest_first else statement.ranked()
    values = statement.parameters() | {"rows": 26}
    with connection.cursor() as cursor:
        if statement.is_nearest_first:
            cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            cursor.execute(f"EXPLAIN {sql}", values)
        else:
            cursor.execute(f"EXPLAIN {ClientCursor(connection.connection).mogrify(sql, values)}")
        return "\n".join(line for (line,) in cursor.fetchall())


BOX = BoundingBox(12.55, 55.66, 12.58, 55.68)
QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"ll": TIVOLI}, "search_by_position"),
    ({"ll": TIVOLI, "open": "now"}, "search_by_position"),
    ({"ll": TIVOLI, "open": "now", "open_for": 60, "radius": 20_000}, "search_by_position"),
    (
        {"ll": TIVOLI, "cuisine": ("kitchen-7",), "price_max": 2, "rating_min": Decimal(4), "radius": 5_000},
        "kitchen_by_cuisine_and_position",
    ),
    ({"ll": TIVOLI, "cuisine": ("kitchen-7", "seafood"), "open": "now"}, "kitchen_by_cuisine_and_position"),
    ({"ll": TIVOLI, "radius": 3_000, "sort": Sort.RATING}, "search_by_position"),
    ({"bbox": BOX, "sort": Sort.RATING}, "search_by_position"),
    ({"market": "market-7"}, "search_by_market_reviews"),
    ({}, "search_by_reviews"),
    ({"open": "now"}, "search_by_reviews"),
    ({"sort": Sort.RATING}, "search_by_rating"),
    ({"sort": Sort.RATING, "market": "market-7"}, "search_by_market_rating"),
    ({"q": "some 1f0e3dad"}, "search_by_document"),
    ({"q": "1f0e3dad", "ll": TIVOLI, "radius": 3_000}, "search_by_"),
]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_many")
def test_a_search_among_many_uses_the_index_and_never_reads_the_whole_table() -> None:
    """All questions in one test: the rows take seconds to make."""
    plans = [(question, index, plan(**question)) for question, index in QUESTIONS]
    assert [
        (question, found)
        for question, index, found in plans
        if index not in found or "Seq Scan on catalogue_searchrow" in found or "Seq Scan on catalogue_kitchen" in found
    ] == []
    # What has moved since the first page is found by when it moved.
    assert all("search_by_ranking" in found for question, _, found in plans if question in ({}, {"sort": Sort.RATING}))


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_many")
def test_the_nearest_are_planned_once_and_not_for_each_question() -> None:
    questions: list[dict[str, Any]] = [
        {"open": "now"},
        {"open": "now", "open_for": 60, "price": (1, 2), "reviews_min": 3},
        {"cuisine": ("seafood",), "price": (2,), "rating_min": Decimal(4), "offer": "any"},
    ]
    for question in questions:
        for number in range(8):
            search.search_restaurants(Query(ll=(55.67, 12.56 + number / 1000), **question), now=NOW)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE %s", ["%AS plane%"]
        )
        # The first five are planned with their values, to compare.
        assert cursor.fetchall() == [(5, 3)] * len(questions)


def test_no_question_has_more_text_or_values_than_the_driver_remembers_the_reading_of() -> None:
    """It would read longer ones anew each time."""
    much = Query(
        ll=TIVOLI,
        market="copenhagen",
        open="now",
        open_for=60,
        cuisine=("a", "b"),
        cuisine_not=("c",),
        attributes=("d",),
        diet=("vegan",),
        price=(1,),
        price_max=2,
        rating_min=Decimal(4),
        reviews_min=3,
        party_size=2,
    )
    statement = SearchStatement(query=much, center=Location(*TIVOLI), open_at=NOW, now=NOW)
    assert len(statement.nearest(24)) <= MAX_CACHED_STATEMENT_LENGTH
    assert len(statement.parameters()) <= MAX_CACHED_STATEMENT_PARAMS


def test_the_reach_of_a_circle_holds_all_within_the_radius() -> None:
    """The statement's circle on the plane is never smaller than the radius on the ground."""
    for lat in (0.0, 1.3, 55.7, -33.9, 84.9):
        center = Location(lat, 12.5)
        statement = SearchStatement(query=Query(ll=(lat, 12.5), radius=20_000), center=center, open_at=None, now=NOW)
        values = statement.parameters()
        for north in (-1, 1):
            # One minute of arc is 1853 m.
            there = Location(lat + north * 19_999 / 111_194.93, 12.5)
            if abs(there.lat) <= 85:
                here, point = distance.project_mercator(center), distance.project_mercator(there)
                assert distance.distance_m(center, there) < 20_000
                assert abs(point.y - here.y) < values["reach"]
