"""Which insights are written, when they are written again, and by how many workers at once."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connection, transaction

from catalogue import field_groups, insights
from catalogue.insights.analysis.dish_names import find_dishes
from catalogue.insights.pipeline import batch_job, inputs
from catalogue.insights.providers.base import Context, InsightDraft
from catalogue.models import Insight, Restaurant, Review
from catalogue.tasks import refresh_insights
from framework.public_ids import decode
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support.live_server import database_url

WORDS = "The tonkotsu ramen was delicious and the staff were kind. Go early."
HOUR = timedelta(hours=1)


class Counting:
    """A provider that counts how often it is asked."""

    name = "counting"

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.requests: list[str] = []

    def generate(self, context: Context) -> InsightDraft:
        self.requests.append(context.name)
        return InsightDraft(text=f"{len(context.reviews)} reviews.", disclosure="Counted.")


def reviewed(reviews: int = 5, text: str = WORDS, **fields: Any) -> Restaurant:
    place = builders.restaurant(**fields)
    for _ in range(reviews):
        builders.review(place, text, stars=5)
    return place


def of(place: Restaurant) -> Insight:
    """The insight as it is stored."""
    return Insight.objects.get(restaurant=place)


def refresh(provider: Any = insights.FALLBACK, *, after: timedelta = timedelta(0)) -> int:
    return insights.refresh(now=NOW + after, max_reviews=100, provider=provider)


@pytest.mark.django_db
def test_five_reviews_make_an_insight_and_four_do_not() -> None:
    place, small = reviewed(5, rating="5.0"), reviewed(4)
    assert refresh() == 1
    insight = Insight.objects.get()
    assert insight.restaurant_id == place.pk
    assert "the tonkotsu ramen (5 of 5 reviews)" in insight.text
    writer = (insights.FALLBACK.name, insights.FALLBACK.version)
    assert (insight.provider, insight.provider_version, insight.review_count) == (*writer, 5)
    assert (insight.rating, insight.generated_at, insight.hidden) == (5.0, NOW, False)
    assert insight.reviews_through == place.reviews.order_by("created_at").last().created_at  # type: ignore[union-attr]
    record = field_groups.read_record(small.slug, groups=["ai_insight"], now=NOW)
    assert (record.values["ai_insight_reason"], record.sold) == ("too_few_reviews", ())


@pytest.mark.django_db
def test_every_cited_review_is_of_the_restaurant_and_names_the_dish() -> None:
    place = reviewed(6)
    other = reviewed(6)
    refresh()
    for restaurant in (place, other):
        (dish,) = of(restaurant).detail["dishes"]
        assert dish["mentions"] == len(dish["citations"]) == 6
        cited = Review.objects.filter(pk__in=[decode("rev", citation) for citation in dish["citations"]])
        assert [review.restaurant_id for review in cited] == [restaurant.pk] * 6
        assert {spot.key for review in cited for spot in find_dishes(review.text)} == {dish["name"]}


@pytest.mark.django_db
def test_a_second_run_finds_nothing_to_do() -> None:
    reviewed()
    provider = Counting()
    assert [refresh(provider), refresh(provider, after=HOUR)] == [1, 0]
    assert len(provider.requests) == 1


@pytest.mark.django_db
def test_insight_without_claims_is_stored_once_and_served_as_null() -> None:
    place = reviewed(5, text="Nice.")
    assert [refresh(), refresh(after=HOUR)] == [1, 0]
    assert of(place).text == ""
    record = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW)
    assert (record.values["ai_insight"], record.values["ai_insight_reason"]) == (None, "nothing_to_say")


@pytest.mark.sample(4)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "after", "asked"),
    [
        ({"review_count": 44}, HOUR, 1),
        ({"review_count": 36}, HOUR, 1),
        ({"review_count": 43}, HOUR, 0),
        ({"rating": "4.3"}, HOUR, 1),
        ({"rating": "4.4"}, HOUR, 0),
        ({"name": "Renamed"}, HOUR, 0),
        ({}, timedelta(days=90), 1),
        ({}, timedelta(days=89), 0),
    ],
)
def test_an_insight_is_stale_after_a_tenth_more_reviews_a_moved_rating_or_90_days(
    change: Mapping[str, Any], after: timedelta, asked: int
) -> None:
    place = reviewed(5, review_count=5, rating="4.5")
    Restaurant.objects.filter(pk=place.pk).update(review_count=40)
    refresh()
    # So that there is another input.
    builders.review(place, "And the gyoza.")
    Restaurant.objects.filter(pk=place.pk).update(**{"review_count": 40, **change})
    again = Counting()
    again.name, again.version = insights.FALLBACK.name, insights.FALLBACK.version
    assert refresh(again, after=after) == asked
    assert len(again.requests) == asked


@pytest.mark.django_db
def test_of_the_largest_places_the_insight_counts_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_REVIEWS", 6)
    place = reviewed(8)
    refresh()
    insight = of(place)
    assert (insight.review_count, insight.restaurant_review_count) == (6, 8)
    assert "5 of 6" not in insight.text
    assert "6 of 6 reviews" in insight.text
    assert refresh(after=HOUR) == 0


@pytest.mark.django_db
def test_a_restaurant_that_has_fewer_reviews_than_it_counts_breaks_no_batch() -> None:
    short, whole = reviewed(3), reviewed(5)
    Restaurant.objects.filter(pk=short.pk).update(review_count=40)
    assert [refresh(), refresh(after=HOUR)] == [2, 0]
    assert (of(short).text, of(short).review_count) == ("", 3)
    assert of(whole).text
    record = field_groups.read_record(short.slug, groups=["ai_insight"], now=NOW)
    assert record.values["ai_insight_reason"] == "too_few_reviews"


class Poisoned(Counting):
    """A provider that fails on places of this name, and answers more than fits on those of another."""

    def generate(self, context: Context) -> InsightDraft:
        draft = super().generate(context)
        if context.name == "Poison":
            raise ZeroDivisionError
        return draft if context.name != "Endless" else InsightDraft(text="a" * 601, disclosure="")


@pytest.mark.exhaustive
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Poison", "Endless"])
def test_a_restaurant_on_which_the_provider_fails_is_logged_and_waits_for_a_day(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    poison, sound = reviewed(7, name=name), reviewed(5, name="Sound")
    provider = Poisoned()
    assert [refresh(provider), refresh(provider, after=HOUR)] == [2, 0]
    assert sorted(provider.requests) == sorted([name, "Sound"])
    assert of(sound).text == "5 reviews."
    assert [record.getMessage() for record in caplog.records] == [
        f"No insight of restaurant {poison.slug} ({poison.pk})"
    ]
    record = field_groups.read_record(poison.slug, groups=["ai_insight"], now=NOW)
    assert (record.values["ai_insight_reason"], record.sold) == ("not_written_yet", ())
    cured = Counting()
    assert refresh(cured, after=timedelta(days=1)) == 1
    assert (of(poison).text, of(poison).failed_at) == ("7 reviews.", None)


@pytest.mark.django_db
def test_where_the_provider_fails_the_text_of_before_is_served_on() -> None:
    place = reviewed(name="Poison")
    refresh(Counting())
    refresh(Poisoned("2"), after=HOUR)
    assert (of(place).text, of(place).generated_at, of(place).failed_at) == ("5 reviews.", NOW, NOW + HOUR)
    record = field_groups.read_record(place.slug, groups=["ai_insight"], now=NOW)
    assert (record.values["ai_insight"], record.sold) == ("5 reviews.", ("ai_insight",))


@pytest.mark.django_db
def test_invalidated_insight_does_not_wait_after_a_failure() -> None:
    reviewed(name="Poison")
    refresh(Poisoned())
    insights.invalidate(Insight.objects.all())
    assert refresh(Counting(), after=HOUR) == 1


@pytest.mark.django_db
def test_the_same_input_is_not_written_again_but_confirmed() -> None:
    place = reviewed()
    provider = Counting()
    refresh(provider)
    assert refresh(provider, after=timedelta(days=90)) == 1
    assert len(provider.requests) == 1
    assert of(place).generated_at == NOW + timedelta(days=90)


@pytest.mark.django_db
def test_new_provider_version_rewrites_all_insights() -> None:
    place = reviewed()
    refresh(Counting("1"))
    assert refresh(Counting("2")) == 1
    assert of(place).provider_version == "2"


@pytest.mark.django_db
def test_invalidated_insight_is_rewritten_from_the_same_input() -> None:
    place = reviewed()
    builders.insight(place, "Outdated.", hidden=True)
    assert insights.invalidate(Insight.objects.all()) == 1
    assert refresh(after=HOUR) == 1
    assert "the tonkotsu ramen (5 of 5 reviews)" in of(place).text
    assert of(place).hidden is True


@pytest.mark.django_db
def test_restaurants_with_more_reviews_come_first_and_a_refresh_stops_at_max_reviews() -> None:
    for number in (5, 7, 6):
        reviewed(number, name=f"With {number}")
    provider = Counting()
    assert [insights.refresh(now=NOW, max_reviews=1, provider=provider) for _ in range(2)] == [3, 0]
    assert sorted(provider.requests) == ["With 5", "With 6", "With 7"]
    assert [place.name for place in insights.due_restaurants(now=NOW)] == ["With 7", "With 6", "With 5"]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_batches_hold_about_a_thousand_reviews_and_stop_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "BATCH_REVIEWS", 10)
    for number in range(6):
        reviewed(5, name=f"Place {number}")
    provider = Counting()
    assert [insights.refresh(now=NOW, max_reviews=15, provider=provider) for _ in range(3)] == [4, 2, 0]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_batch_costs_the_same_queries_however_many_restaurants_it_holds(
    django_assert_num_queries: Any,
) -> None:
    for _ in range(3):
        place = reviewed()
        builders.rule(place)
    # Which are due; a savepoint, the lock, that of the restaurants, insights, reviews, rules, restaurants, the upsert,
    # the demand, the release.
    with django_assert_num_queries(11):
        assert refresh() == 3


@pytest.mark.django_db
def test_reviews_without_words_and_rules_that_rest_are_left_alone() -> None:
    place = reviewed()
    builders.review(place, stars=1)
    builders.rule(place, percent=50, at="18:00").delete()
    builders.rule(place, percent=30, at="17:30", weekdays=[4])
    place.flow_rules.create(weekdays=[0], time="12:00", percent=90, active=False)
    refresh()
    assert of(place).text.endswith("Discounts of up to 30 % are on offer at 17:30 on Friday.")
    assert "5 of 6 reviews" in of(place).text


@pytest.mark.django_db
def test_task_enqueues_itself_until_nothing_is_due() -> None:
    place = reviewed()
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as broker:
        before = broker.llen(settings.CELERY_TASK_DEFAULT_QUEUE)
        refresh_insights(an_argument_of_tomorrow=1)
        refresh_insights()
        assert broker.llen(settings.CELERY_TASK_DEFAULT_QUEUE) == before + 1
    assert of(place).text


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_insights_are_written_although_the_next_task_cannot_be_enqueued() -> None:
    place = reviewed()
    done = subprocess.run(
        [
            sys.executable,
            "manage.py",
            "shell",
            "-v",
            "0",
            "-c",
            "from catalogue import tasks; tasks.refresh_insights()",
        ],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": database_url(), "BROKER_URL": "redis://127.0.0.1:1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "task catalogue.tasks.refresh_insights was not enqueued" in done.stderr
    assert of(place).text


@pytest.mark.django_db(transaction=True)
def test_while_one_worker_writes_another_leaves_it_alone() -> None:
    reviewed()

    def elsewhere() -> int:
        try:
            return refresh()
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        batch_job.REFRESH_LOCK.acquire()
        assert thread.submit(elsewhere).result() == 0
    assert refresh() == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_write_each_insight_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "BATCH_REVIEWS", 5)
    for _ in range(12):
        reviewed()
    provider = Counting()
    start = Barrier(2)

    def work() -> None:
        try:
            start.wait()
            while insights.refresh(now=NOW, max_reviews=1_000, provider=provider):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(work), threads.submit(work)]:
            each.result()
    assert len(provider.requests) == len(set(provider.requests)) == 12
    assert Insight.objects.count() == 12
