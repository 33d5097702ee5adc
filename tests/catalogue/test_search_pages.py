"""Filters, orders and pages of a search, against a reference in Python; and how PostgreSQL finds them."""

from collections.abc import Callable
from datetime import time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from django.db import connection

from catalogue import geo, opening, search
from catalogue.cursors import BadCursor
from catalogue.geo import Location
from catalogue.models import Restaurant
from catalogue.search import Query, Sort
from catalogue.search.statement import Statement
from tests.catalogue import make
from tests.catalogue.asking import refused, walk
from tests.catalogue.make import NOW, TIVOLI

pytestmark = pytest.mark.django_db


def world(random: Random, *, size: int) -> list[Restaurant]:
    """Restaurants of all kinds within 2 km of Tivoli."""
    for slug in ("copenhagen", "malmo"):
        make.market(slug)
    for slug in ("seafood", "danish", "sushi", "pizza"):
        make.cuisine(slug)
    made = [
        make.unsaved(
            market=random.choice(["copenhagen", "malmo"]),
            neighborhood=random.choice(["Vesterbro", "Nørrebro", "Indre By", None]),
            cuisines=random.sample(["seafood", "danish", "sushi", "pizza"], k=random.randint(0, 3)),
            price_level=random.choice([None, 1, 2, 3, 4]),
            rating=random.choice([None, *(Decimal(tenths) / 10 for tenths in range(10, 51))]),
            review_count=random.choice([0, 0, 5, 5, 100, 2000]),
            latitude=TIVOLI[0] + random.uniform(-0.015, 0.015),
            longitude=TIVOLI[1] + random.uniform(-0.02, 0.02),
            hours=random.choice([None, make.week("09:00", "17:00"), make.week("18:00", "02:00")]),
        )
        for _ in range(size)
    ]
    Restaurant.objects.bulk_create(made)
    opening.refresh(now=NOW)
    return made


def metres(place: Restaurant) -> float:
    return geo.distance_m(Location(*TIVOLI), Location(place.latitude or 0, place.longitude or 0))


def is_night(place: Restaurant) -> bool:
    return place.hours is not None and place.hours["periods"][0]["open"]["time"] == "18:00"


REFERENCE: dict[str, tuple[Any, Callable[[Restaurant], object]]] = {
    "market": ("malmo", lambda place: place.market_id == "malmo"),
    "neighborhood": ("norrebro", lambda place: place.neighborhood == "Nørrebro"),
    "open": ("now", is_night),
    "cuisine": (("sushi", "pizza"), lambda place: {"sushi", "pizza"} & set(place.cuisines)),
    "price": ((2, 4), lambda place: place.price_level in (2, 4)),
    "price_max": (3, lambda place: place.price_level is not None and place.price_level <= 3),
    "rating_min": (Decimal("3.7"), lambda place: place.rating is not None and place.rating >= Decimal("3.7")),
    "reviews_min": (5, lambda place: place.review_count >= 5),
    "ll": (TIVOLI, lambda place: metres(place) <= 1_500),
}
ORDERS: dict[Sort, Callable[[Restaurant], Any]] = {
    Sort.BEST: lambda place: (-place.review_count, place.pk),
    Sort.REVIEWS: lambda place: (-place.review_count, place.pk),
    Sort.RATING: lambda place: (-(place.rating or 0), -place.review_count, place.pk),
    Sort.DISTANCE: lambda place: (metres(place), place.pk),
}


def test_each_filter_and_all_of_them_in_each_order_do_what_the_words_say() -> None:
    random = Random(4)
    places = world(random, size=300)
    choices = [[name] for name in REFERENCE]
    choices += [random.sample(sorted(REFERENCE), k=random.randint(0, 5)) for _ in range(30)]
    seen = set()
    for chosen in choices:
        sort = random.choice([sort for sort in Sort if sort is not Sort.DISTANCE or "ll" in chosen])
        question = {name: REFERENCE[name][0] for name in chosen}
        kept = [place for place in places if all(REFERENCE[name][1](place) for name in chosen)]
        order = ORDERS[Sort.DISTANCE if sort is Sort.BEST and "ll" in chosen else sort]
        found = [hit.slug for page in walk(Query(**question, sort=sort, limit=random.choice([9, 50]))) for hit in page]
        assert found == [place.slug for place in sorted(kept, key=order)], (chosen, sort)
        seen.add(len(found))
    assert len(seen) > 10


@pytest.mark.parametrize("sort", list(Sort))
def test_pages_neither_miss_nor_repeat_what_stays_while_others_come_and_go(sort: Sort) -> None:
    random = Random(5)
    places = [place for place in world(random, size=120) if metres(place) <= 1_500]
    staying, leaving = places[:50], places[50:]
    found: list[str] = []
    for hits in walk(Query(ll=TIVOLI, sort=sort, limit=5)):
        found += [hit.slug for hit in hits]
        Restaurant.objects.filter(pk__in=[place.pk for place in leaving[:3]]).delete()
        leaving = leaving[3:]
        make.restaurant(
            review_count=random.randint(0, 2000), rating="4.2", latitude=TIVOLI[0] + random.uniform(0, 0.01)
        )
    assert len(found) == len(set(found))
    assert {place.slug for place in staying} <= set(found)


def test_later_pages_speak_of_the_moment_of_the_first() -> None:
    Restaurant.objects.bulk_create(make.unsaved(hours=make.week("09:00", "19:30")) for _ in range(3))
    opening.refresh(now=NOW)
    first = search.find(Query(open="now", limit=1), now=NOW + timedelta(milliseconds=300))
    later = search.find(Query(open="now", limit=1, cursor=first.next_cursor), now=NOW + timedelta(minutes=45))
    assert first.as_of == later.as_of == later.open_at == NOW
    assert [hit.open_now for hit in later.hits] == [True]


def test_a_cursor_is_good_for_its_own_question_for_an_hour() -> None:
    Restaurant.objects.bulk_create(make.unsaved() for _ in range(3))
    cursor = search.find(Query(limit=1), now=NOW).next_cursor
    assert cursor is not None
    assert len(search.find(Query(limit=2, cursor=cursor), now=NOW + timedelta(hours=1)).hits) == 2
    for question, now in (
        (Query(cursor=cursor, reviews_min=0), NOW),
        (Query(cursor=cursor, sort=Sort.RATING), NOW),
        (Query(cursor=cursor), NOW + timedelta(hours=1, seconds=1)),
        (Query(cursor=cursor[:-1] + ("A" if cursor[-1] != "A" else "B")), NOW),
        (Query(cursor="x"), NOW),
        (Query(cursor="☃:☃"), NOW),
    ):
        with pytest.raises(BadCursor) as refusal:
            search.find(question, now=now)
        assert refusal.value.param == "cursor"


def test_a_cursor_does_not_outlive_the_place_that_its_name_meant() -> None:
    make.landmark("Gate", market="copenhagen", prominence=1)
    Restaurant.objects.bulk_create(make.unsaved() for _ in range(3))
    cursor = search.find(Query(near="gate", limit=1), now=NOW).next_cursor
    make.landmark("Gate", at=(55.6, 12.5), market="copenhagen", prominence=2)
    with pytest.raises(BadCursor):
        search.find(Query(near="gate", limit=1, cursor=cursor), now=NOW)


def test_names_that_are_not_known_are_refused_with_those_that_are_like_them() -> None:
    make.restaurant()
    assert (refused(cuisine=("seefood",)).param, refused(cuisine=("seefood",)).extra) == (
        "cuisine",
        {"suggestions": ["seafood"]},
    )
    assert (refused(market="kopenhagen").param, refused(market="kopenhagen").extra) == (
        "market",
        {"suggestions": ["copenhagen"]},
    )


def test_parameters_that_need_one_another_are_named() -> None:
    assert refused(radius=100).param == "radius"
    assert refused(sort=Sort.DISTANCE).param == "sort"
    assert refused(near="tivoli", ll=TIVOLI).param == "ll"
    assert refused(open=time(12, 0)).param == "open"
    assert refused(near="tivoli").code == "place_not_resolved"


SOME = """
INSERT INTO catalogue_restaurant (id, slug, name, alt_names, status, market_id, country, line1, latitude,
    longitude, review_count, star_counts, cuisine_id, cuisines, open_spans, spans_until, attributes, external_ids,
    created_at, updated_at, version)
SELECT gen_random_uuid(), 'some-' || n, 'Some ' || md5(n::text), '{}', 'open', 'market-' || n %% 10, 'DK',
    'Street ' || n,
    55.67 + (n %% 200 - 100) * 0.001, 12.56 + (n / 200 - 50) * 0.002, n %% 977, '{}', 'seafood', '{seafood}',
    tstzmultirange(tstzrange(now(), now() + interval '8 hours')), now() + interval '15 days', '{}', '{}', now(),
    now(), 1
FROM generate_series(1, %s) AS n
"""


@pytest.fixture
def _many() -> None:
    """20,000 restaurants in a grid of 20 by 12 km."""
    for number in range(10):
        make.market(f"market-{number}")
    make.cuisine()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(SOME, [20_000])
        cursor.execute("ANALYZE catalogue_restaurant")


def plan(**question: Any) -> str:
    """How PostgreSQL would find a page."""
    query = Query(**question)
    center = Location(*query.ll) if query.ll else None
    statement = Statement(query=query, center=center, open_at=NOW if query.open else None, now=NOW)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement.sql()}", statement.parameters())
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.usefixtures("_many")
def test_a_search_among_many_uses_the_index_and_never_reads_the_whole_table() -> None:
    """All questions in one test: the restaurants take seconds to make."""
    questions: list[tuple[dict[str, Any], str]] = [
        ({"ll": TIVOLI}, "restaurant_by_position"),
        ({"ll": TIVOLI, "open": "now"}, "restaurant_by_position"),
        ({"ll": TIVOLI, "radius": 3000, "sort": Sort.RATING}, "restaurant_by_position"),
        ({"market": "market-7"}, "restaurant_by_market_best"),
        ({}, "restaurant_by_reviews"),
        ({"sort": Sort.RATING}, "restaurant_by_rating"),
        ({"sort": Sort.RATING, "market": "market-7"}, "restaurant_by_market_rating"),
        ({"q": "some 1f0e3dad"}, "restaurant_by_words"),
    ]
    plans = [(question, index, plan(**question)) for question, index in questions]
    assert [
        (question, found)
        for question, index, found in plans
        if index not in found or "Seq Scan on catalogue_restaurant" in found
    ] == []
