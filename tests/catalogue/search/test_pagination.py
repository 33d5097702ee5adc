"""The pages of a search: their cursors, and what a walk over a changing catalogue shows."""

from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, time, timedelta
from decimal import Decimal
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models import F
from django.utils import timezone

from catalogue import search
from catalogue.hours import open_intervals
from catalogue.models import Restaurant, SearchRow
from catalogue.search import BoundingBox, Facet, Query, Sort, rank_refresh
from framework.api.pagination.cursor import InvalidCursor
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.catalogue.search.search_requests import refused


def some(count: int, random: Random, **fields: Any) -> list[Restaurant]:
    """So many restaurants about Tivoli, of all ratings."""
    template = builders.unsaved()
    made = [
        Restaurant(
            slug=f"some-{number}",
            name=f"Fiskebar {number}",
            country="DK",
            market=template.market,
            latitude=TIVOLI[0] + random.uniform(-0.01, 0.01),
            longitude=TIVOLI[1] + random.uniform(-0.01, 0.01),
            cuisine=template.cuisine,
            cuisines=template.cuisines,
            rating=Decimal(random.randint(10, 50)) / 10,
            review_count=random.randint(0, 60),
            created_at=NOW,
            updated_at=NOW,
            **fields,
        )
        for number in range(count)
    ]
    return Restaurant.objects.bulk_create(made, batch_size=1000)


def pages(query: Query, *, between: Callable[[], None] = lambda: None) -> list[str]:
    """The slugs of a walk that begins now; something happens after each page."""
    found: list[str] = []
    while True:
        page = search.search_restaurants(query, now=timezone.now())
        found += [hit.slug for hit in page.hits]
        if page.next_cursor is None:
            return found
        between()
        query = replace(query, cursor=page.next_cursor)


@contextmanager
def storms(*happenings: Callable[[Random], None]) -> Any:
    """Each of these happens again and again, in a thread of its own; at least once before the walk begins."""
    stopped, begun = Event(), [Event() for _ in happenings]

    def storm(number: int) -> None:
        random = Random(number)
        try:
            while not stopped.is_set():
                with suppress(DatabaseError):
                    happenings[number](random)
                begun[number].set()
        finally:
            connection.close()

    threads = [Thread(target=storm, args=(number,)) for number in range(len(happenings))]
    for thread in threads:
        thread.start()
    try:
        assert all(event.wait(20) for event in begun)
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


WALKS = [
    Query(limit=10),
    Query(limit=10, sort=Sort.RATING),
    Query(limit=10, sort=Sort.REVIEWS, market="copenhagen"),
    Query(limit=10, sort=Sort.RATING, ll=TIVOLI, radius=5_000),
    Query(limit=10, ll=TIVOLI, radius=5_000),
    Query(limit=10, ll=TIVOLI, radius=5_000, cuisine=("seafood",)),
    Query(limit=10, q="fiskebar"),
    Query(limit=10, bbox=BoundingBox(12.5, 55.6, 12.7, 55.7), sort=Sort.REVIEWS),
    Query(limit=10, sort=Sort.OFFER),
]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_walk_over_a_changing_catalogue_misses_and_repeats_nothing() -> None:
    """What is rated anew matches all along; what comes, closes, moves away or is renamed does not, and is others."""
    random = Random(7)
    places = some(240, random)
    staying, leaving, renamed = places[:200], [place.pk for place in places[200:220]], places[220:]
    for place in staying[:30]:
        builders.listing(place)
        builders.slot(place, starts_at=timezone.now() + timedelta(days=1), percent=random.choice([10, 20, 30]))
    offering = {place.slug for place in staying[:30]}
    # Some have moved within the hour already, some a while ago: only the latter may move again.
    SearchRow.objects.filter(pk__in=[place.pk for place in staying[:100]]).update(
        former_stars=F("rank_stars"), former_reviews=F("rank_reviews"), ranked_at=timezone.now() - timedelta(hours=3)
    )

    def rate(random: Random) -> None:
        Restaurant.objects.filter(pk=random.choice(staying).pk).update(
            rating=Decimal(random.randint(10, 50)) / 10, review_count=random.randint(0, 60)
        )

    def rank(random: Random) -> None:
        rank_refresh.refresh_ranks(now=timezone.now())

    def come_and_go(random: Random) -> None:
        builders.restaurant(name="Fiskebar", review_count=random.randint(0, 60), rating="4.2")
        if leaving:
            Restaurant.objects.filter(pk=leaving.pop()).update(status="permanently_closed")

    def rename(random: Random) -> None:
        place = random.choice(renamed)
        Restaurant.objects.filter(pk=place.pk).update(name=f"Fiskebar {random.random()}")

    with storms(rate, rank, come_and_go, rename):
        for query in WALKS:
            found = pages(query)
            expected = offering if query.sort is Sort.OFFER else {place.slug for place in staying}
            of_these = [slug for slug in found if slug in expected]
            assert len(of_these) == len(set(of_these)), query
            assert set(of_these) == expected, query
    assert SearchRow.objects.filter(ranked_at__gt=timezone.now() - timedelta(hours=1)).count() > 20


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("sort", [Sort.RATING, Sort.REVIEWS])
def test_a_rank_that_moves_in_the_middle_of_a_walk_moves_the_next_walk(sort: Sort) -> None:
    random = Random(8)
    places = {place.slug: place for place in some(40, random)}
    before = pages(Query(sort=sort, limit=50))
    moved = iter(before[::-1])

    def praise() -> None:
        """Those who come last become the first."""
        for _ in range(5):
            Restaurant.objects.filter(slug=next(moved)).update(rating=5, review_count=10_000)

    assert pages(Query(sort=sort, limit=10), between=praise) == before
    later = timezone.now() + timedelta(minutes=10)
    again = [hit.slug for hit in search.search_restaurants(Query(sort=sort, limit=50), now=later).hits]
    assert set(again[:15]) == set(before[-15:])
    assert set(again) == set(places)


@pytest.mark.django_db
def test_a_rank_moves_five_minutes_after_it_was_decided() -> None:
    first, second = some(2, Random(9))
    Restaurant.objects.filter(pk=first.pk).update(review_count=500)
    Restaurant.objects.filter(pk=second.pk).update(review_count=90)
    Restaurant.objects.filter(pk=second.pk).update(review_count=900)
    now = timezone.now()

    def order(minutes: int) -> list[str]:
        return [hit.slug for hit in search.search_restaurants(Query(), now=now + timedelta(minutes=minutes)).hits]

    rank_refresh.refresh_ranks(now=now + timedelta(minutes=6))
    assert order(6) == [first.slug, second.slug]
    # The second has moved already, and moves again an hour later.
    rank_refresh.refresh_ranks(now=now + timedelta(minutes=66))
    assert order(66) == [first.slug, second.slug]
    assert order(72) == [second.slug, first.slug]


@pytest.mark.django_db
def test_later_pages_speak_of_the_moment_of_the_first() -> None:
    Restaurant.objects.bulk_create(builders.unsaved(hours=builders.week("09:00", "19:30")) for _ in range(3))
    open_intervals.refresh_open_intervals(now=NOW)
    first = search.search_restaurants(Query(open="now", limit=1), now=NOW + timedelta(milliseconds=300))
    later = search.search_restaurants(
        Query(open="now", limit=1, cursor=first.next_cursor), now=NOW + timedelta(minutes=45)
    )
    assert first.as_of == later.as_of == later.open_at == NOW
    assert [hit.values["open_now"] for hit in later.hits] == [True]


@pytest.mark.django_db
def test_a_cursor_is_good_for_its_own_question_for_an_hour() -> None:
    Restaurant.objects.bulk_create(builders.unsaved() for _ in range(3))
    cursor = search.search_restaurants(Query(limit=1), now=NOW).next_cursor
    assert cursor is not None
    assert len(search.search_restaurants(Query(limit=2, cursor=cursor), now=NOW + timedelta(hours=1)).hits) == 2
    # What only says how a page is shown is no other question.
    assert (
        len(search.search_restaurants(Query(limit=2, cursor=cursor, include_total=True, lang="da"), now=NOW).hits) == 2
    )
    for question, now in (
        (Query(cursor=cursor, reviews_min=0), NOW),
        (Query(cursor=cursor, sort=Sort.RATING), NOW),
        (Query(cursor=cursor), NOW + timedelta(hours=1, seconds=1)),
        (Query(cursor=cursor[:-1] + ("A" if cursor[-1] != "A" else "B")), NOW),
        (Query(cursor="x"), NOW),
        (Query(cursor="☃:☃"), NOW),
    ):
        with pytest.raises(InvalidCursor) as refusal:
            search.search_restaurants(question, now=now)
        assert refusal.value.param == "cursor"


@pytest.mark.django_db
def test_a_cursor_does_not_outlive_the_place_that_its_name_meant() -> None:
    builders.landmark("Gate", market="copenhagen", prominence=1)
    Restaurant.objects.bulk_create(builders.unsaved() for _ in range(3))
    cursor = search.search_restaurants(Query(near="gate", limit=1), now=NOW).next_cursor
    builders.landmark("Gate", at=(55.6, 12.5), market="copenhagen", prominence=2)
    with pytest.raises(InvalidCursor):
        search.search_restaurants(Query(near="gate", limit=1, cursor=cursor), now=NOW)


@pytest.mark.django_db
def test_names_that_are_not_known_are_refused_with_those_that_are_like_them() -> None:
    builders.restaurant()
    builders.attribute("outdoor_seating")
    builders.attribute("diet_vegan")
    for question, suggestions in (
        ({"cuisine": ("seefood",)}, ["seafood"]),
        ({"cuisine_not": ("seefood",)}, ["seafood"]),
        ({"market": "kopenhagen"}, ["copenhagen"]),
        ({"attributes": ("outdoor_seats",)}, ["outdoor_seating"]),
        ({"diet": ("vegna",)}, ["vegan"]),
    ):
        refusal = refused(**question)
        assert (refusal.param, refusal.extra) == (next(iter(question)), {"suggestions": suggestions})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("question", "param"),
    [
        ({"radius": 100}, "radius"),
        ({"radius": 100, "ll": TIVOLI, "bbox": BoundingBox(12.5, 55.6, 12.6, 55.7)}, "radius"),
        ({"sort": Sort.DISTANCE}, "sort"),
        ({"sort": Sort.DISTANCE, "bbox": BoundingBox(12.5, 55.6, 12.6, 55.7)}, "sort"),
        ({"near": "tivoli", "ll": TIVOLI}, "ll"),
        ({"open": time(12, 0)}, "open"),
        ({"open_for": 60}, "open_for"),
        ({"facets": (Facet.PRICE,)}, "facets"),
        ({"cuisine": ("seafood",), "cuisine_not": ("seafood",)}, "cuisine_not"),
        ({"bbox": BoundingBox(12.6, 55.6, 12.5, 55.7)}, "bbox"),
        ({"bbox": BoundingBox(12.5, 55.7, 12.6, 55.6)}, "bbox"),
        ({"bbox": BoundingBox(12.5, 55.0, 12.6, 56.0)}, "bbox"),
        ({"bbox": BoundingBox(-180, -85, 180, 85)}, "bbox"),
        ({"bbox": BoundingBox(12.0, 55.6, 14.0, 55.7)}, "bbox"),
        ({"lang": "xx"}, "lang"),
        ({"lang": "danish"}, "lang"),
    ],
)
def test_parameters_that_do_not_go_together_are_named(question: dict[str, Any], param: str) -> None:
    assert refused(**question).param == param


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_name_that_nothing_has_is_not_resolved() -> None:
    assert refused(near="tivoli").code == "place_not_resolved"


@pytest.mark.django_db
def test_a_time_of_day_may_be_that_of_a_box() -> None:
    builders.market("copenhagen")
    page = search.search_restaurants(Query(bbox=BoundingBox(12.5, 55.6, 12.6, 55.7), open=time(19, 30)), now=NOW)
    assert page.open_at == datetime(2026, 11, 21, 18, 30, tzinfo=NOW.tzinfo)


@pytest.mark.django_db
def test_labels_come_in_the_language_asked_for_and_in_english_where_there_is_none() -> None:
    seafood = builders.cuisine("seafood")
    seafood.labels = {"da": "Fisk og skaldyr"}
    seafood.save()
    builders.restaurant(review_count=2)
    builders.restaurant(cuisines=["pizza", "seafood"], review_count=1)
    builders.restaurant(cuisines=[])
    for lang, labels in (
        ("da", ["Fisk og skaldyr", "Pizza", None]),
        ("en", ["Seafood", "Pizza", None]),
        ("fr", ["Seafood", "Pizza", None]),
    ):
        assert [hit.values["cuisine"] for hit in search.search_restaurants(Query(lang=lang), now=NOW).hits] == labels
