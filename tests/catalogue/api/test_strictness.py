"""What the data API refuses, and by which name."""

from typing import Any

import pytest
import time_machine
from django.test import Client

from tests.catalogue import builders
from tests.catalogue.builders import NOW


@pytest.fixture(autouse=True)
def _saturday_evening(db: None) -> Any:
    """The clock stands at NOW."""
    with time_machine.travel(NOW, tick=False):
        yield


def refused(client: Client, address: str) -> dict[str, Any]:
    """The error of a 400."""
    response = client.get(address)
    assert response.status_code == 400, response.content
    error: dict[str, Any] = response.json()["error"]
    return error


@pytest.mark.parametrize("slug", ["nothing-here", "Kodbyens", "a_b", "a%00b", "a.b", "x" * 200, "%E2%98%83"])
def test_what_is_no_slug_of_ours_is_not_found(client: Client, slug: str) -> None:
    response = client.get(f"/v1/restaurants/{slug}")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["restaurants", "landmarks", "markets", "cuisines", "restaurants/a-place"])
def test_both_slash_forms_are_served_and_other_methods_refused(client: Client, path: str) -> None:
    builders.restaurant(slug="a-place")
    assert client.get(f"/v1/{path}").content == client.get(f"/v1/{path}/").content
    assert client.head(f"/v1/{path}").status_code == 200
    for method in ("post", "put", "patch", "delete", "options"):
        response = getattr(client, method)(f"/v1/{path}")
        assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("nere=tivoli", "nere"),
        ("near=a&near=b", "near"),
        ("near=", "near"),
        ("near=%20", "near"),
        ("near=" + "x" * 121, "near"),
        ("near=a%00b", "near"),
        ("near=a%0Ab", "near"),
        ("q=%7F", "q"),
        ("ll=55.6", "ll"),
        ("ll=55.6,12.5,1", "ll"),
        ("ll=86,0", "ll"),
        ("ll=85.1,0", "ll"),
        ("ll=0,180.1", "ll"),
        ("ll=nan,nan", "ll"),
        ("ll=1e1,1", "ll"),
        ("ll=%D9%A1,1", "ll"),
        ("ll=1,1&radius=0", "radius"),
        ("ll=1,1&radius=20001", "radius"),
        ("ll=1,1&radius=1.5", "radius"),
        ("radius=100", "radius"),
        ("open=yes", "open"),
        ("open=24:00", "open"),
        ("open=7:30", "open"),
        ("open=NOW", "open"),
        ("open=2026-11-21", "open"),
        ("open=2026-11-21T19:00:00", "open"),
        ("open=2026-11-31T19:00:00Z", "open"),
        ("open=2026-11-21T19:00:00+01:00", "open"),
        ("open=2028-12-25T19:00:00Z", "open"),
        ("open=12:00", "open"),
        ("cuisine=Seefood", "cuisine"),
        ("cuisine=seafood,", "cuisine"),
        ("cuisine=seafood,,sushi", "cuisine"),
        ("cuisine=unheard-of", "cuisine"),
        ("market=atlantis", "market"),
        ("price=0", "price"),
        ("price=1,5", "price"),
        ("price=1-2", "price"),
        ("price=" + ",".join("1" * 21), "price"),
        ("q=" + "+" * 100 + "x" * 21, "q"),
        ("price_max=5", "price_max"),
        ("rating_min=0.9", "rating_min"),
        ("rating_min=5.1", "rating_min"),
        ("rating_min=NaN", "rating_min"),
        ("rating_min=4,5", "rating_min"),
        ("reviews_min=-1", "reviews_min"),
        ("reviews_min=1000000000", "reviews_min"),
        ("sort=price", "sort"),
        ("sort=distance", "sort"),
        ("limit=0", "limit"),
        ("limit=51", "limit"),
        ("limit=abc", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.5", "limit"),
        ("limit=%2B5", "limit"),
        ("limit=%D9%A5", "limit"),
        ("cursor=abc", "cursor"),
        ("fields=reviews", "fields"),
        ("fields=core,", "fields"),
        ("fields=Core", "fields"),
        ("near=a&ll=1,1", "ll"),
        ("bbox=1,1,2", "bbox"),
        ("bbox=2,1,1,2", "bbox"),
        ("bbox=1,2,2,1", "bbox"),
        ("bbox=1,1,2,86", "bbox"),
        ("bbox=1,1,3,3", "bbox"),
        ("bbox=179,0,181,1", "bbox"),
        ("bbox=1,1,1.1,1.1&radius=100", "radius"),
        ("bbox=1,1,1.1,1.1&sort=distance", "sort"),
        ("open_for=60", "open_for"),
        ("open=now&open_for=0", "open_for"),
        ("open=now&open_for=1441", "open_for"),
        ("cuisine_not=unheard-of", "cuisine_not"),
        ("cuisine=seafood&cuisine_not=seafood", "cuisine_not"),
        ("attributes=unheard_of", "attributes"),
        ("attributes=Wheelchair", "attributes"),
        ("diet=air", "diet"),
        ("offer=yes", "offer"),
        ("offer_min=0", "offer_min"),
        ("offer_min=91", "offer_min"),
        ("date=2026-02-30", "date"),
        ("date=tomorrow", "date"),
        ("time=25:00", "time"),
        ("party_size=0", "party_size"),
        ("facets=colour&market=copenhagen", "facets"),
        ("facets=price", "facets"),
        ("include_total=yes", "include_total"),
        ("lang=xx", "lang"),
        ("lang=da-DK", "lang"),
        ("format=xml", "format"),
    ],
)
def test_what_a_search_does_not_understand_is_refused_by_name(client: Client, query: str, param: str) -> None:
    builders.restaurant()
    error = refused(client, f"/v1/restaurants?{query}")
    assert (error["code"], error["param"]) == ("invalid_request", param)


@pytest.mark.parametrize("query", ["near=%FF", "q=%ED%A0%80", "%FF=1"])
def test_what_is_not_utf_8_is_refused(client: Client, query: str) -> None:
    assert refused(client, f"/v1/restaurants?{query}")["code"] == "invalid_request"


def test_a_misspelt_parameter_is_refused_with_the_nearest_known_one(client: Client) -> None:
    assert "Did you mean `near`?" in refused(client, "/v1/restaurants?nera=tivoli")["message"]


@pytest.mark.parametrize(
    ("query", "suggestions"),
    [
        ("sort=ratings", ["rating"]),
        ("facets=cuisines&market=copenhagen", ["cuisine"]),
        ("cuisine=seefood", ["seafood"]),
        ("attributes=wheelchairs", ["wheelchair"]),
        ("diet=vegam", ["vegan"]),
        ("market=kopenhagen", ["copenhagen"]),
    ],
)
def test_a_misspelt_word_is_refused_with_those_that_are_like_it(
    client: Client, query: str, suggestions: list[str]
) -> None:
    builders.restaurant()
    builders.attribute("wheelchair")
    builders.attribute("diet_vegan")
    error = refused(client, f"/v1/restaurants?{query}")
    assert error["suggestions"] == suggestions
    assert f"Did you mean `{suggestions[0]}`?" in error["message"]


@pytest.mark.exhaustive
def test_a_place_that_nothing_is_called_is_refused_with_suggestions(client: Client) -> None:
    builders.landmark("Central Station", market="copenhagen")
    error = refused(client, "/v1/restaurants?near=xyzzy+xyzzy+central")
    assert (error["code"], error["param"], error["suggestions"]) == (
        "place_not_resolved",
        "near",
        ["Central Station"],
    )


@pytest.mark.parametrize(
    ("query", "param"), [("fields=wine", "fields"), ("near=tivoli", "near"), ("fields=", "fields")]
)
def test_invalid_parameters_of_a_record_are_refused_before_any_query(client: Client, query: str, param: str) -> None:
    assert refused(client, f"/v1/restaurants/nothing-here?{query}")["param"] == param


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("from=2026-11-21&to=2026-11-20", "to"),
        ("from=2026-11-21&to=2027-01-20", "to"),
        ("to=2026-11-20", "to"),
        ("from=2028-01-01", "from"),
        ("from=0001-01-01", "from"),
        ("from=9999-12-31", "from"),
        ("from=2026-2-3", "from"),
        ("from=2026-02-30", "from"),
        ("days=7", "days"),
    ],
)
def test_days_that_cannot_be_are_refused_by_name(client: Client, query: str, param: str) -> None:
    builders.restaurant(slug="a-place")
    assert refused(client, f"/v1/restaurants/a-place/hours?{query}")["param"] == param
    assert len(client.get("/v1/restaurants/a-place/hours?from=2026-11-21&to=2027-01-19").json()) == 8
