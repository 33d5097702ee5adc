"""The reviews of a restaurant: in every order, of every kind, page by page, and for money."""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalogue import field_groups
from catalogue.models import Restaurant, Review
from catalogue.reviews import aggregates, listing
from catalogue.reviews.listing import Order, ReviewQuery
from catalogue.serializers.paid_groups import ReviewAnswer, ReviewRecord, ReviewsRecord, ReviewSummaryRecord
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db

TEXTS = ["", "Lovely crème brûlée.", "The RAMEN was great. " * 12, "Zu laut, aber gut.", "ラーメンがおいしい"]


@pytest.fixture
def place() -> Restaurant:
    """A restaurant with sixty reviews of many kinds, several of them of one moment."""
    made = builders.restaurant(slug="noma")
    chance, source = random.Random(5), builders.source("demo")
    rows = [
        Review(
            restaurant=made,
            stars=chance.randint(1, 5),
            text=chance.choice(TEXTS),
            lang=chance.choice(["en", "de", "ja", ""]),
            author="Ada",
            helpful_count=chance.choice([0, 0, 1, 5, 20]),
            photo_count=chance.choice([0, 0, 1, 4]),
            owner_reply=None if number % 3 else "Thank you!",
            owner_replied_at=None if number % 3 else NOW,
            created_at=NOW - timedelta(days=chance.choice([1, 2, 30, 400]), microseconds=number % 2),
            source=source,
        )
        for number in range(60)
    ]
    Review.objects.bulk_create(rows)
    builders.review(builders.restaurant(), "Of another place.")
    return made


def walk(place: Restaurant, *, now: datetime = NOW, **asked: Any) -> list[str]:
    """The ids of all pages."""
    found, cursor = [], None
    while True:
        page = listing.list_reviews(place, ReviewQuery(**asked, cursor=cursor), now=now)
        found += [row["id"] for row in page.values]
        assert len(page.rows) == page.limit or not page.has_more
        if (cursor := page.next_cursor) is None:
            return found


KEYS: dict[Order, Any] = {
    Order.NEWEST: lambda review: (-review.created_at.timestamp(), -review.pk.int),
    Order.OLDEST: lambda review: (review.created_at.timestamp(), review.pk.int),
    Order.HIGHEST: lambda review: (-review.stars, -review.created_at.timestamp(), -review.pk.int),
    Order.LOWEST: lambda review: (review.stars, -review.created_at.timestamp(), -review.pk.int),
    Order.HELPFUL: lambda review: (-review.helpful_count, -review.created_at.timestamp(), -review.pk.int),
}


@pytest.mark.parametrize("sort", list(KEYS))
def test_each_order_is_walked_whole_and_without_repetition(place: Restaurant, sort: Order) -> None:
    expected = [encode("rev", review.pk) for review in sorted(place.reviews.all(), key=KEYS[sort])]
    assert walk(place, sort=sort, limit=7) == expected
    assert walk(place, sort=sort, limit=50) == expected


def test_relevance_is_the_same_on_every_page_however_long_the_walk_takes(place: Restaurant) -> None:
    whole = walk(place, sort=Order.RELEVANT, limit=50)
    assert len(set(whole)) == 60
    found, cursor, now = [], None, NOW
    while True:
        page = listing.list_reviews(place, ReviewQuery(limit=7, cursor=cursor), now=now)
        found += [row["id"] for row in page.values]
        now += timedelta(minutes=6)
        if (cursor := page.next_cursor) is None:
            break
    assert found == whole


def test_what_helped_says_something_shows_something_and_is_new_is_relevant() -> None:
    place = builders.restaurant()
    old = builders.review(place, "Fine.", created_at=NOW - timedelta(days=1500))
    new = builders.review(place, "Fine.", created_at=NOW - timedelta(days=2))
    long = builders.review(place, "Fine. " * 80, created_at=NOW - timedelta(days=2))
    shown = builders.review(place, "Fine. " * 80, created_at=NOW - timedelta(days=2), photo_count=2)
    helpful = builders.review(place, "Fine.", created_at=NOW - timedelta(days=900), helpful_count=100)
    assert walk(place) == [encode("rev", review.pk) for review in (helpful, shown, long, new, old)]


def test_a_review_of_any_age_has_its_place() -> None:
    place = builders.restaurant()
    first = builders.review(place, "Fine.", created_at=datetime(1, 1, 1, tzinfo=UTC))
    new = builders.review(place, "Fine.", created_at=NOW)
    assert walk(place) == [encode("rev", review.pk) for review in (new, first)]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sort", [Order.RELEVANT, Order.HELPFUL, Order.LOWEST, Order.NEWEST])
def test_a_walk_over_changing_reviews_misses_and_repeats_nothing_that_was_there_all_along(
    place: Restaurant, sort: Order
) -> None:
    there, chance = set(place.reviews.values_list("pk", flat=True)), random.Random(9)
    found, cursor = [], None
    while True:
        page = listing.list_reviews(place, ReviewQuery(sort=sort, limit=6, cursor=cursor), now=NOW)
        found += [row["id"] for row in page.values]
        if (cursor := page.next_cursor) is None:
            break
        gone = chance.choice(sorted(there))
        Review.objects.filter(pk=gone).delete()
        there.discard(gone)
        # Votes come in, stars are given anew and words are added, to reviews before and behind the page.
        for changed in place.reviews.filter(pk__in=chance.sample(sorted(there), 12)):
            changed.helpful_count, changed.stars = chance.choice([0, 3, 60]), chance.randint(1, 5)
            changed.text, changed.photo_count = chance.choice(TEXTS), chance.randint(0, 3)
            changed.save()
        for days in (0, 3, 500):
            builders.review(place, "New.", stars=chance.randint(1, 5), created_at=NOW - timedelta(days=days))
    assert len(found) == len(set(found))
    assert {encode("rev", pk) for pk in there} <= set(found)


FILTERS: list[tuple[dict[str, Any], Any]] = [
    ({"stars": (1, 2)}, lambda review: review.stars in (1, 2)),
    ({"lang": ("de", "ja")}, lambda review: review.lang in ("de", "ja")),
    ({"with_photos": True}, lambda review: review.photo_count > 0),
    ({"with_photos": False}, lambda review: review.photo_count == 0),
    ({"has_reply": True}, lambda review: review.owner_reply is not None),
    ({"has_reply": False}, lambda review: review.owner_reply is None),
    ({"since": NOW - timedelta(days=2)}, lambda review: review.created_at >= NOW - timedelta(days=2)),
    ({"words": ("CREME", "brulee")}, lambda review: "crème" in review.text),
    ({"words": ("ramen",)}, lambda review: "RAMEN" in review.text),
    ({"words": ("おいしい",)}, lambda review: "おいしい" in review.text),
    ({"words": ("100%",)}, lambda review: False),
    (
        {"stars": (5,), "lang": ("en",), "has_reply": True},
        lambda r: (r.stars, r.lang, r.owner_reply) == (5, "en", "Thank you!"),
    ),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("asked", "holds"), FILTERS, ids=[str(asked)[:40] for asked, _ in FILTERS])
def test_every_filter_finds_what_it_says_and_nothing_else(
    place: Restaurant, asked: dict[str, Any], holds: Any
) -> None:
    expected = {encode("rev", review.pk) for review in place.reviews.all() if holds(review)}
    found = walk(place, limit=5, **asked)
    assert (set(found), len(found)) == (expected, len(expected))


def test_a_review_is_shown_with_its_photos_and_the_reply() -> None:
    place = builders.restaurant()
    review = builders.review(
        place,
        "Best ramen in town.",
        visited_on=date(2026, 11, 1),
        helpful_count=7,
        owner_reply="Thank you!",
        owner_replied_at=NOW + timedelta(microseconds=5),
    )
    photo = builders.photo(place, review=review)
    builders.photo(place, review=review, is_hidden=True)
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])
    (row,) = listing.list_reviews(place, ReviewQuery(), now=NOW).values
    address = row["photos"][0]["url"].removesuffix("large.webp")
    assert f"/photos/{encode('ph', photo.pk)}/" in address
    assert row == {
        "id": encode("rev", review.pk),
        "stars": 5,
        "rating": 5,
        "text": "Best ramen in town.",
        "lang": "en",
        "author": "Ada L.",
        "visited_on": "2026-11-01",
        "created_at": f"{review.created_at:%Y-%m-%dT%H:%M:%SZ}",
        "helpful_count": 7,
        "photos": [{"id": encode("ph", photo.pk), "url": f"{address}large.webp", "small_url": f"{address}small.webp"}],
        "owner_reply": {"text": "Thank you!", "created_at": f"{NOW:%Y-%m-%dT%H:%M:%SZ}"},
        "source": "demo",
    }
    assert set(row) == set(ReviewRecord().fields)


def test_half_stars_are_exact_in_the_review_and_in_the_rating() -> None:
    place = builders.restaurant()
    builders.review(place, "Good.", stars=4, rating=Decimal("3.5"))
    builders.review(place, "Good.", stars=4)
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])
    place.refresh_from_db()
    page = listing.list_reviews(place, ReviewQuery(), now=NOW)
    assert sorted((row["stars"], row["rating"]) for row in page.values) == [(4, 3.5), (4, 4)]
    assert page.summary is not None
    assert (page.summary["rating"], page.summary["distribution"]["4"]) == (3.8, 2)


def test_a_rating_that_does_not_round_to_the_stars_is_refused() -> None:
    with pytest.raises(IntegrityError, match="review_rating_rounds_to_stars"):
        builders.review(builders.restaurant(), "Good.", stars=3, rating=Decimal("3.5"))


@pytest.mark.parametrize(
    "text", ['"Best" \\o/', "a\nb\tc\r\x01\x1f\x7f", "</script>&\u2028", "早餐 🍜 \U0010ffff", "{}%s:x"]
)
def test_text_of_guests_and_owners_is_shown_verbatim(text: str) -> None:
    place = builders.restaurant(slug="told")
    moment = datetime(2026, 2, 3, 23, 59, 59, 999_999, tzinfo=UTC)
    builders.review(place, text, author=text, created_at=moment, owner_reply=text, owner_replied_at=moment, lang="")
    (row,) = listing.list_reviews(place, ReviewQuery(), now=NOW).values
    result = {"text": text, "created_at": "2026-02-03T23:59:59Z"}
    assert {name: row[name] for name in ("text", "author", "created_at")} == {**result, "author": text}
    assert (row["owner_reply"], row["lang"], row["visited_on"], row["photos"]) == (result, None, None, [])


def test_a_page_costs_one_query_and_the_lines_of_its_sources_however_many_it_shows(
    place: Restaurant, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for review in place.reviews.filter(photo_count__gt=0):
        builders.photo(place, review=review)
    with django_assert_num_queries(2):
        page = listing.list_reviews(place, ReviewQuery(limit=50), now=NOW)
    assert len(page.rows) == 50
    with django_assert_num_queries(2):
        assert listing.list_reviews_by_slug("noma", ReviewQuery(limit=50), now=NOW) == page
    with django_assert_num_queries(3):
        listing.list_reviews_by_slug("noma", ReviewQuery(limit=50, cursor=page.next_cursor), now=NOW)


# A cursor is signed with the second of its making.
@time_machine.travel(NOW, tick=False)
@pytest.mark.parametrize("sort", list(Order))
def test_a_slug_and_its_restaurant_lead_to_the_same_pages(place: Restaurant, sort: Order) -> None:
    for asked in ({}, {"stars": (2, 4), "lang": ("en",)}, {"words": ("ramen",), "has_reply": True}, {"stars": (9,)}):
        question = ReviewQuery(sort=sort, limit=4, **asked)
        page = listing.list_reviews(Restaurant.objects.get(pk=place.pk), question, now=NOW)
        assert listing.list_reviews_by_slug("noma", question, now=NOW) == page


def test_a_review_shows_its_photos_in_the_order_of_their_making(place: Restaurant) -> None:
    review = builders.review(place, "Look!", photo_count=3)
    made = [builders.photo(place, review=review, created_at=NOW + timedelta(minutes=each)) for each in (2, 0, 1)]
    builders.photo(place, review=review, is_hidden=True)
    shown = next(
        row for row in listing.list_reviews(place, ReviewQuery(limit=50), now=NOW).values if row["text"] == "Look!"
    )
    assert [photo["id"] for photo in shown["photos"]] == [encode("ph", made[each].pk) for each in (1, 2, 0)]


def test_the_newest_are_read_from_their_index_at_any_depth(place: Restaurant) -> None:
    page = listing.list_reviews(place, ReviewQuery(sort=Order.NEWEST, limit=5), now=NOW)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        parts = {
            "place": "",
            "place_json": "NULL",
            "snapshot": "''",
            "restaurant": "%(restaurant)s",
            "rank": "0",
            "former": "",
            "conditions": "true",
            "after": "(created_at, id) < (now(), %(restaurant)s)",
            "order": "created_at DESC, id DESC",
        }
        cursor.execute(f"EXPLAIN {listing.ROWS.format(**parts)}", {"restaurant": place.pk, "limit": 6})
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        statement = listing._statement(Order.NEWEST, (), is_next=False, is_by_slug=True)  # noqa: SLF001  # the route's
        cursor.execute(f"EXPLAIN {statement}", {"slug": "noma", "limit": 6})
        plan_by_slug = "\n".join(line for (line,) in cursor.fetchall())
    assert page.has_more
    for each in (plan, plan_by_slug):
        assert "review_newest_of_restaurant" in each
        # The photos of a review are a matter of their own.
        assert "Sort" not in each.partition("SubPlan")[0]


# The group
def test_the_group_sums_up_shows_the_newest_three_and_leads_to_the_second_part(client: Client) -> None:
    place = builders.restaurant(slug="noma")
    for number in range(5):
        builders.review(place, "Good." if number else "", stars=number + 1)
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])
    group = field_groups.read_record("noma", groups=["reviews"], now=NOW).values["reviews"]
    assert set(group) == set(ReviewsRecord().fields)
    assert set(group["summary"]) == set(ReviewSummaryRecord().fields)
    assert group["summary"] == {
        "rating": 3.0,
        "count": 5,
        "distribution": {"5": 1, "4": 1, "3": 1, "2": 1, "1": 1},
        "by_lang": {"en": 4},
        "with_photos": 0,
        "with_reply": 0,
    }
    assert [item["stars"] for item in group["items"]] == [5, 4, 3]
    path, _, query = group["next"].partition("/reviews?")[0], "", group["next"].partition("?")[2]
    assert path.endswith("/v1/restaurants/noma")
    cursor = query.partition("cursor=")[2]
    second = listing.list_reviews(place, ReviewQuery(sort=Order.NEWEST, limit=3, cursor=cursor), now=NOW)
    assert [row["stars"] for row in second.values] == [2, 1]
    # What was paid for is the same a minute later.
    assert (
        field_groups.read_record("noma", groups=["reviews"], now=NOW + timedelta(minutes=1)).values["reviews"] == group
    )


# Over HTTP
def test_a_page_without_reviews_is_free(client: Client) -> None:
    builders.restaurant(slug="bare")
    response = client.get("/v1/restaurants/bare/reviews?sort=newest", headers={"x-payment": "junk"})
    assert response.status_code == 200
    shown = response.json()
    assert set(shown) == set(ReviewAnswer().fields)
    assert (shown["data"], shown["summary"]["count"], shown["attribution"]) == ([], 0, [])
    assert (shown["pagination"]["limit"], shown["pagination"]["has_more"]) == (20, False)


@pytest.mark.django_db(transaction=True)
def test_reviews_are_sold_from_pro_on(client: Client, prices: None) -> None:
    builders.review(builders.restaurant(slug="noma"), "Good.")
    response = client.get("/v1/restaurants/noma/reviews")
    assert response.status_code == 402
    assert response.json()["tier_required"] == "pro"
    # The price says nothing of whether there is one.
    assert client.get("/v1/restaurants/noma/reviews?stars=1").status_code == 402


def test_the_summary_is_not_given_away_with_a_page_on_which_there_is_nothing() -> None:
    place = builders.restaurant(slug="noma")
    builders.review(place, "Good.")
    aggregates.update_restaurants([place.pk])
    assert Restaurant.objects.get(pk=place.pk).review_count == 1
    page = listing.list_reviews_by_slug("noma", ReviewQuery(words=("zzzzz",)), now=NOW)
    assert (page.rows, page.summary) == ([], None)


def test_reviews_of_what_has_moved_are_found_where_it_is_now(client: Client) -> None:
    builders.restaurant(slug="old", merged_into=builders.restaurant(slug="noma"))
    builders.restaurant(slug="erased", erased_at=NOW)
    moved = client.get("/v1/restaurants/old/reviews?stars=5")
    assert (moved.status_code, moved["Location"]) == (308, "/v1/restaurants/noma/reviews?stars=5")
    assert client.get("/v1/restaurants/erased/reviews").status_code == 410
    assert client.get("/v1/restaurants/nowhere/reviews").status_code == 404


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("sort=best", "sort"),
        ("stars=0", "stars"),
        ("stars=1,", "stars"),
        ("lang=deutsch", "lang"),
        ("with_photos=yes", "with_photos"),
        ("since=2026-02-30", "since"),
        ("since=yesterday", "since"),
        ("limit=0", "limit"),
        ("cursor=nonsense", "cursor"),
        ("star=1", "star"),
    ],
)
def test_reviews_refuse_what_they_do_not_know(client: Client, query: str, param: str) -> None:
    builders.restaurant(slug="bare")
    response = client.get(f"/v1/restaurants/bare/reviews?{query}")
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", param)


def test_a_cursor_belongs_to_its_question(place: Restaurant, client: Client) -> None:
    cursor = listing.list_reviews(place, ReviewQuery(limit=5), now=datetime.now(UTC)).next_cursor
    response = client.get(f"/v1/restaurants/noma/reviews?limit=5&stars=5&cursor={cursor}")
    assert (response.status_code, response.json()["error"]["param"]) == (400, "cursor")
