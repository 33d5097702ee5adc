"""The groups of a record: what each holds, what it costs, and what is sold of it."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalogue import field_groups, insights
from catalogue.hours import OpenState
from catalogue.hours.open_intervals import refresh_open_intervals
from catalogue.models import Restaurant
from catalogue.reviews import aggregates
from catalogue.serializers.restaurants import RestaurantRecord, render_record
from framework.api.renderers import JSONRenderer
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db


OF_OTHER_GROUPS = {
    "menu",
    "reviews",
    "context",
    "ai_insight",
    "ai_insight_detail",
    "ai_insight_reason",
    "photos",
    "history",
}


def read(place: Restaurant, *names: str) -> field_groups.Record:
    return field_groups.read_record(place.slug, groups=names, now=NOW)


# Core
@pytest.mark.parametrize(
    "fields",
    [
        {"cuisines": [], "latitude": None, "longitude": None},
        {
            "name": 'A "quoted" \\ name\n<&> Bæst',
            "alt_names": ["寿司", ""],
            "line1": "1 Main Street",
            "phone": "+4532155656",
            "phone_verified_at": NOW,
            "website": "https://fiskebaren.example",
            "menu_url": None,
            "description": None,
            "rating": Decimal("4.0"),
            "review_count": 7,
            "price_level": 2,
            "hours": builders.week("18:00", "02:00"),
            "attributes": {"outdoor_seating": True, "wheelchair": "limited"},
            "external_ids": {"osm": "node/1"},
            "verified_at": NOW,
        },
    ],
)
def test_what_the_database_has_rendered_is_what_the_serializer_says(fields: dict[str, Any]) -> None:
    place = builders.restaurant(**fields)
    builders.listed(place)
    builders.slot(place)
    rendered = orjson.loads(render_record(read(place, "core")))
    assert orjson.loads(JSONRenderer().render(RestaurantRecord(rendered).data)) == rendered
    stored = Restaurant.objects.select_related("market").get(pk=place.pk)
    plain = ("slug", "name", "alt_names", "status", "neighborhood", "phone", "website", "review_count", "price_level")
    for name in (*plain, "cuisines", "attributes", "external_ids", "version"):
        assert rendered[name] == getattr(stored, name), name
    assert rendered.keys() == set(RestaurantRecord().fields) - OF_OTHER_GROUPS


@pytest.mark.parametrize(
    "hours",
    [
        builders.week("12:00", "23:00"),
        builders.week("18:00", "02:00"),
        builders.week("00:00", "00:00"),
        builders.week("12:00", "14:00", days=[0]),
        builders.week("19:00", "19:30", days=[5]),
        {"timezone": "Europe/Copenhagen", "periods": [], "special_days": [], "known": True},
        {"timezone": "Asia/Tokyo", "periods": builders.week("09:00", "17:00")["periods"], "special_days": []},
        {
            "timezone": "Europe/Copenhagen",
            "periods": [],
            "special_days": [{"date": "2026-11-22", "periods": [{"open": "10:00", "close": "14:00"}]}],
        },
        None,
    ],
)
def test_the_state_is_the_same_by_the_open_intervals_as_by_the_hours(hours: dict[str, Any] | None) -> None:
    place = builders.restaurant(hours=hours)
    moments = [NOW + timedelta(minutes=minutes) for minutes in range(-600, 2 * 24 * 60, 173)]
    by_hours = [state(place, moment) for moment in moments]
    refresh_open_intervals(now=NOW - timedelta(hours=10))
    refresh_open_intervals(now=NOW)
    # The spans reach 15 days ahead: later moments fall back to the hours, and say the same.
    assert [state(place, moment) for moment in moments] == by_hours
    if hours is None:
        assert {one.state for one in by_hours} == {"unknown"}


def state(place: Restaurant, at: datetime) -> OpenState:
    core = field_groups.read_record(place.slug, groups=["core"], now=at).core
    assert core is not None
    return core.state


# Reviews
def test_reviews_are_summed_up_and_the_newest_three_shown() -> None:
    place = builders.restaurant(rating=Decimal("3.5"))
    builders.review(place, "Oldest.", stars=1)
    builders.review(place, stars=4)
    builders.review(place, "Très bon.", stars=4, lang="fr")
    newest = builders.review(
        place,
        "Best ramen in town.",
        stars=5,
        visited_on=date(2026, 11, 1),
        helpful_count=7,
        owner_reply="Thank you!",
        owner_replied_at=NOW,
    )
    with transaction.atomic():
        aggregates.update_restaurants([place.pk])

    record = read(place, "reviews")

    assert record.sold == ("reviews",)
    reviews = record.values["reviews"]
    assert reviews["summary"] == {
        "rating": 3.5,
        "count": 4,
        "distribution": {"5": 1, "4": 2, "3": 0, "2": 0, "1": 1},
        "by_lang": {"en": 2, "fr": 1},
        "with_photos": 0,
        "with_reply": 1,
    }
    assert [review["text"] for review in reviews["items"]] == ["Best ramen in town.", "Très bon.", ""]
    assert reviews["items"][0] == {
        "id": encode("rev", newest.pk),
        "stars": 5,
        "rating": 5,
        "text": "Best ramen in town.",
        "lang": "en",
        "author": "Ada L.",
        "visited_on": "2026-11-01",
        "created_at": f"{newest.created_at:%Y-%m-%dT%H:%M:%SZ}",
        "helpful_count": 7,
        "photos": [],
        "owner_reply": {"text": "Thank you!", "created_at": f"{NOW:%Y-%m-%dT%H:%M:%SZ}"},
        "source": "demo",
    }
    assert (reviews["items"][2]["lang"], reviews["items"][2]["owner_reply"]) == (None, None)


def test_a_place_without_reviews_has_none_to_sell() -> None:
    place = builders.restaurant()
    builders.review(builders.restaurant(), "Of another place.")
    assert read(place, "reviews") == field_groups.Record(
        {"slug": place.slug, "name": place.name, "reviews": None}, sold=()
    )


# Context
def test_context_lists_what_a_walk_reaches_nearest_first() -> None:
    place = builders.restaurant(neighborhood="Vesterbro")
    lat, lng = builders.TIVOLI
    park = builders.landmark("Park", kind="park", at=(lat + 0.0044247, lng), wikidata="Q860898")
    west = builders.landmark("Museum", kind="museum", at=(lat, lng - 0.01))
    builders.landmark("Too far", at=(lat + 0.0136, lng))
    builders.landmark("Vesterbro", kind="neighborhood")
    builders.landmark("Copenhagen", kind="city")

    record = read(place, "context")

    assert record.sold == ("context",)
    assert record.values["context"] == {
        "neighborhood": "Vesterbro",
        "entries": [
            {
                "id": encode("lm", park.pk),
                "name": "Park",
                "kind": "park",
                "distance_m": 492,
                "walking_distance_m": 640,
                "walking_minutes": 8,
                "bearing": 0,
                "wikidata": "Q860898",
                "source": "tablewire",
            },
            {
                "id": encode("lm", west.pk),
                "name": "Museum",
                "kind": "museum",
                "distance_m": 627,
                "walking_distance_m": 815,
                "walking_minutes": 11,
                "bearing": 270,
                "wikidata": None,
                "source": "tablewire",
            },
        ],
    }


def test_a_walk_reaches_1500_metres_and_no_farther() -> None:
    place = builders.restaurant()
    lat, lng = builders.TIVOLI
    # 1,499 and 1,501 m to the north.
    builders.landmark("Near enough", at=(lat + 0.013481, lng))
    builders.landmark("Too far", at=(lat + 0.013499, lng))
    entries = read(place, "context").values["context"]["entries"]
    assert [(entry["name"], entry["distance_m"]) for entry in entries] == [("Near enough", 1499)]


def test_context_holds_the_nearest_twenty() -> None:
    place = builders.restaurant()
    lat, lng = builders.TIVOLI
    for number in range(22):
        builders.landmark(f"Sight {number}", at=(lat + 0.0001 * (22 - number), lng))
    entries = read(place, "context").values["context"]["entries"]
    assert [entry["name"] for entry in entries] == [f"Sight {number}" for number in range(21, 1, -1)]


@pytest.mark.parametrize("location", [{}, {"latitude": None, "longitude": None}])
def test_where_nothing_lies_around_there_is_no_context_to_sell(location: dict[str, Any]) -> None:
    builders.landmark("Tivoli", at=(builders.TIVOLI[0] + 1, builders.TIVOLI[1]))
    record = read(builders.restaurant(**location), "context")
    assert (record.values["context"], record.sold) == (None, ())


# Insight
def reviewed(**fields: Any) -> Restaurant:
    """A restaurant whose row counts eight reviews."""
    return builders.restaurant(review_count=8, rating="4.5", **fields)


def test_an_insight_is_its_text_and_a_detail() -> None:
    place = reviewed()
    builders.insight(place, "Guests talk most about the ramen.", rating=4.5)
    record = read(place, "ai_insight")
    assert record.sold == ("ai_insight",)
    assert record.values["ai_insight"] == "Guests talk most about the ramen."
    assert record.values["ai_insight_reason"] is None
    assert record.values["ai_insight_detail"] == {
        "summary": "Guests talk most about the ramen.",
        "best_time": None,
        "dishes": [],
        "aspects": [],
        "watch_outs": [],
        "features": [],
        "languages": {},
        "disclosure": "Made by hand.",
        "review_count": 8,
        "reviews_through": NOW,
        "generated_at": NOW,
        "model": f"extractive {insights.FALLBACK.version}",
        "stale": False,
    }


@pytest.mark.parametrize(
    ("written", "stale"),
    [
        ({}, False),
        ({"restaurant_review_count": 7}, True),
        ({"review_count": 5}, False),
        ({"rating": 4.4}, False),
        ({"rating": 4.3}, True),
        ({"generated_at": NOW - timedelta(days=89)}, False),
        ({"generated_at": NOW - timedelta(days=90)}, True),
        ({"provider_version": "0"}, True),
        ({"provider": "another"}, True),
    ],
)
def test_an_old_insight_is_served_and_marked(written: dict[str, Any], stale: bool) -> None:
    place = reviewed()
    builders.insight(place, **{"rating": 4.5, **written})
    record = read(place, "ai_insight")
    assert (record.values["ai_insight_detail"]["stale"], record.sold) == (stale, ("ai_insight",))


def test_of_many_reviews_nine_more_are_not_yet_too_many() -> None:
    place = builders.restaurant(review_count=109)
    insight = builders.insight(place, restaurant_review_count=100)
    assert read(place, "ai_insight").values["ai_insight_detail"]["stale"] is False
    insight.restaurant_review_count = 99
    insight.save()
    assert read(place, "ai_insight").values["ai_insight_detail"]["stale"] is True


@pytest.mark.parametrize(
    ("count", "insight", "reason"),
    [
        (4, None, "too_few_reviews"),
        (5, None, "not_written_yet"),
        (5, {"text": ""}, "nothing_to_say"),
        (5_200, {"text": "", "review_count": 5_000}, "nothing_to_say"),
        (5, {"text": "", "review_count": 4}, "too_few_reviews"),
        (5, {"text": "", "failed_at": NOW}, "not_written_yet"),
        (4, {}, "too_few_reviews"),
        (5, {"hidden": True}, "withheld"),
    ],
)
def test_missing_insight_has_a_reason_and_is_not_sold(count: int, insight: dict[str, Any] | None, reason: str) -> None:
    place = builders.restaurant(review_count=count)
    if insight is not None:
        builders.insight(place, **insight)
    assert read(place, "ai_insight") == field_groups.Record(
        {
            "slug": place.slug,
            "name": place.name,
            "ai_insight": None,
            "ai_insight_detail": None,
            "ai_insight_reason": reason,
        },
        sold=(),
    )


# Together
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("names", "queries"),
    [
        (["core"], 1),
        (["reviews"], 3),
        (["context"], 2),
        (["ai_insight"], 2),
        (["core", "reviews", "context", "ai_insight"], 6),
    ],
)
def test_each_group_costs_its_own_queries_however_much_it_holds(
    names: list[str], queries: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    place = reviewed()
    for number in range(6):
        builders.review(place, f"Review {number}.")
        builders.landmark(f"Sight {number}")
        builders.listed(place)
        builders.rule(place)
    builders.insight(place)
    aggregates.update_restaurants([place.pk])
    with django_assert_num_queries(queries):
        read(place, *names)


def test_what_is_sold_is_what_was_asked_for_and_there() -> None:
    place = reviewed()
    for _ in range(5):
        builders.review(place, "Fine.")
    builders.insight(place)
    assert read(place).sold == ()
    assert read(place, "core").sold == ()
    assert read(place, "ai_insight", "context", "core", "reviews").sold == ("reviews", "ai_insight")


@pytest.mark.parametrize(
    ("fields", "present", "absent"),
    [
        ("context", {"slug", "name", "context"}, {"id", "phone", "reviews", "ai_insight", "ai_insight_detail"}),
        ("reviews,core", {"slug", "name", "phone", "reviews", "version"}, {"context", "ai_insight"}),
        ("ai_insight", {"slug", "ai_insight", "ai_insight_detail", "ai_insight_reason"}, {"reviews", "phone"}),
    ],
)
def test_a_group_that_was_not_asked_for_is_absent_and_an_empty_one_null_and_free(
    client: Client, fields: str, present: set[str], absent: set[str]
) -> None:
    builders.restaurant(slug="bare")
    response = client.get(f"/v1/restaurants/bare?fields={fields}", headers={"x-payment": "junk"})
    assert response.status_code == 200
    record = response.json()
    assert present <= record.keys()
    assert not absent & record.keys()
    assert "x402" not in response


def test_unknown_group_error_suggests_the_nearest_name(client: Client) -> None:
    builders.restaurant(slug="bare")
    error = client.get("/v1/restaurants/bare?fields=core,review").json()["error"]
    assert (error["code"], error["param"]) == ("invalid_request", "fields")
    assert "Did you mean `reviews`?" in error["message"]


def test_what_does_not_exist_costs_nothing(client: Client) -> None:
    response = client.get("/v1/restaurants/nowhere?fields=reviews")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_all_groups_together_keep_the_documented_shapes() -> None:
    place = reviewed(hours=builders.week("17:00", "23:00"))
    builders.rule(place)
    builders.landmark("Tivoli")
    for _ in range(8):
        builders.review(place, "The tonkotsu ramen was delicious but the service slow. Go early!", stars=4)
    insights.refresh(now=NOW, max_reviews=100)
    shown = orjson.loads(render_record(read(place, *field_groups.GROUPS)))
    assert set(shown) == set(RestaurantRecord().fields)
    assert shown["ai_insight_detail"]["best_time"]["basis"] == ["reviews", "hours", "offers"]
    assert [window["until"] for window in shown["ai_insight_detail"]["best_time"]["windows"]] == ["18:30", None]
