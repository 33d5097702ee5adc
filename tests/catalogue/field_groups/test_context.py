"""What lies around a restaurant, and what its reviews say, each by itself."""

from typing import Any

import pytest
from django.test import Client

from catalogue.field_groups import context
from catalogue.serializers.paid_groups import AroundAnswer, InsightAnswer
from framework.public_ids import encode
from tests.catalogue import builders

pytestmark = pytest.mark.django_db

LAT, LNG = builders.TIVOLI


def test_a_radius_and_kinds_narrow_what_lies_around() -> None:
    place = builders.restaurant()
    for name, kind, north in (("Park", "park", 0.002), ("Museum", "museum", 0.009), ("Far park", "park", 0.02)):
        builders.landmark(name, kind=kind, at=(LAT + north, LNG))

    def names(**asked: Any) -> list[str]:
        return [entry["name"] for entry in context.list_landmarks(place, **asked)]

    assert names() == ["Park", "Museum"]
    assert names(radius_m=3000) == ["Park", "Museum", "Far park"]
    assert names(radius_m=3000, kinds=["park"]) == ["Park", "Far park"]
    assert names(radius_m=300) == ["Park"]
    assert names(limit=1) == ["Park"]


def test_neighborhood_has_the_distance_of_its_centre() -> None:
    place = builders.restaurant(neighborhood="Vesterbro")
    centre = builders.landmark("Vesterbro", "Wester Bro", kind="neighborhood", at=(LAT + 0.0044247, LNG))
    builders.landmark("Vesterbro", kind="neighborhood", at=(LAT + 0.1, LNG))
    assert context.describe_neighborhood(place) == {
        "name": "Vesterbro",
        "id": encode("lm", centre.pk),
        "center": {"lat": LAT + 0.0044247, "lng": LNG},
        "distance_m": 492,
    }
    unknown = {"id": None, "center": None, "distance_m": None}
    assert context.describe_neighborhood(builders.restaurant(neighborhood="Nowhere")) == {"name": "Nowhere", **unknown}
    far = builders.restaurant(neighborhood="Vesterbro", latitude=10.0, longitude=10.0)
    assert context.describe_neighborhood(far) == {"name": "Vesterbro", **unknown}
    lost = builders.restaurant(neighborhood="Vesterbro", latitude=None, longitude=None)
    assert context.describe_neighborhood(lost) == {"name": "Vesterbro", **unknown}
    assert context.describe_neighborhood(builders.restaurant(neighborhood=None)) is None


def test_where_nothing_lies_around_it_is_free(client: Client) -> None:
    builders.restaurant(slug="bare", neighborhood="Vesterbro")
    response = client.get("/v1/restaurants/bare/context?limit=5")
    assert response.status_code == 200
    shown = response.json()
    assert set(shown) == set(AroundAnswer().fields)
    assert (shown["slug"], shown["radius_m"], shown["entries"], shown["attribution"]) == ("bare", 1500, [], [])
    assert shown["neighborhood"]["name"] == "Vesterbro"


@pytest.mark.django_db(transaction=True)
def test_what_lies_around_is_sold_to_every_tier(client: Client, prices: None) -> None:
    builders.restaurant(slug="noma")
    builders.landmark("Tivoli")
    response = client.get("/v1/restaurants/noma/context")
    assert (response.status_code, response.json()["tier_required"]) == (402, None)


@pytest.mark.parametrize(("query", "param"), [("radius=3001", "radius"), ("kind=city", "kind"), ("near=x", "near")])
def test_context_refuses_what_it_does_not_know(client: Client, query: str, param: str) -> None:
    builders.restaurant(slug="bare")
    response = client.get(f"/v1/restaurants/bare/context?{query}")
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_without_an_insight_the_reason_is_free(client: Client) -> None:
    builders.restaurant(slug="bare")
    response = client.get("/v1/restaurants/bare/insight")
    assert response.status_code == 200
    shown = response.json()
    assert set(shown) == set(InsightAnswer().fields)
    assert shown == {
        "slug": "bare",
        "ai_insight": None,
        "ai_insight_detail": None,
        "ai_insight_reason": "too_few_reviews",
    }
    assert client.get("/v1/restaurants/bare/insight?lang=de").status_code == 400
    assert client.get("/v1/restaurants/nowhere/insight").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_an_insight_is_sold_from_premium_on(client: Client, prices: None) -> None:
    builders.insight(builders.restaurant(slug="noma", review_count=8, rating="4.5"))
    response = client.get("/v1/restaurants/noma/insight")
    assert (response.status_code, response.json()["tier_required"]) == (402, "premium")
