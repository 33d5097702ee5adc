"""`manage.py market`: what it prints, and what the product knows of a market afterwards."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from catalogue.models import Holiday, Market, Restaurant
from catalogue.search.text.vocabulary import Vocabulary
from tests.catalogue import builders
from tests.catalogue.importers.import_runs import feature, geojson, import_restaurants

pytestmark = pytest.mark.django_db

LYON_SQUARE = "[4.8, 45.7, 4.9, 45.8]"


def market(*arguments: str) -> str:
    output = io.StringIO()
    call_command("market", *arguments, stdout=output)
    return output.getvalue()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        market(*arguments)
    assert refused.value.returncode == 1
    return str(refused.value)


def test_add_prints_the_market_and_what_came_with_it() -> None:
    builders.landmark("Parc de la Tête d'Or", at=(45.777, 4.855))

    lines = market("add", "Lyon").splitlines()

    assert lines[:10] == [
        "slug          lyon",
        "name          Lyon",
        "country       FR",
        "region",
        "timezone      Europe/Paris",
        "currency      EUR",
        "calling_code  33",
        "latitude      45.749",
        "longitude     4.848",
        "radius_m      20000",
    ]
    assert lines[10].startswith(
        "holidays      33 of this year and the next two; those of a region come with --region 57|6AE|"
    )
    assert lines[11:] == [
        "cuisines      100 with labels in English, fr 100",
        "Added the market lyon, with 33 public holidays and 1 landmarks that had no market. Import its restaurants:"
        " docs/importing.md.",
    ]
    assert market("add", "Lyon") == "The market lyon exists already: nothing was changed.\n"


def test_a_dry_run_prints_the_same_and_stores_nothing() -> None:
    output = market("add", "Poznań", "--dry-run", "--radius-km", "7.5")

    assert "timezone      Europe/Warsaw\n" in output
    assert "radius_m      7500\n" in output
    assert output.endswith("Nothing was stored: a dry run.\n")
    assert not Market.objects.exists()
    assert not Holiday.objects.exists()


def test_a_polygon_gives_the_centre_and_the_radius(tmp_path: Path) -> None:
    file = tmp_path / "lyon.json"
    file.write_text(LYON_SQUARE)

    market("add", "Lyon", "--polygon", str(file))

    added = Market.objects.get()
    assert (added.latitude, added.longitude, added.radius_m) == (45.75, 4.85, 6_800)


@pytest.mark.exhaustive
def test_what_cannot_be_added_is_refused_with_a_sentence(tmp_path: Path) -> None:
    builders.market("copenhagen")
    file = tmp_path / "point.json"
    file.write_text('{"type": "Point", "coordinates": [4.8, 45.7]}')

    assert refusal("add", "Lyonn").startswith(
        "No city of 100,000 inhabitants or more is called Lyonn. Did you mean Lyon"
    )
    assert refusal("add", "Valencia").endswith("State the country or the location.")
    assert refusal("add", "Malmö").startswith("Malmö overlaps the market `copenhagen`")
    assert refusal("add", "Malmö", "--dry-run").startswith("Malmö overlaps the market `copenhagen`")
    assert refusal("add", "Lyon", "--polygon", str(file)).endswith("the file has a Point.")
    assert refusal("add", "Lyon", "--polygon", f"{file}.none").endswith(
        "point.json.none cannot be read: No such file or directory."
    )
    assert (
        refusal("add", "Lyon", "--at", "here") == "--at is a latitude and a longitude in degrees, such as 45.75,4.85."
    )
    assert refusal("add", "Lyon", "--radius-km", "nan") == "--radius-km is 0.1 to 500."
    assert list(Market.objects.values_list("slug", flat=True)) == ["copenhagen"]


def test_list_shows_the_markets_with_their_restaurants() -> None:
    builders.restaurant(market="copenhagen")

    assert json.loads(market("list", "--json")) == {
        "data": [
            {
                "slug": "copenhagen", "name": "Copenhagen", "country": "DK", "region": "",
                "timezone": "Europe/Copenhagen", "currency": "DKK", "calling_code": "45", "latitude": 55.6761,
                "longitude": 12.5683, "radius_m": 25_000, "restaurants": 1,
            }
        ]
    }  # fmt: skip
    assert "Europe/Copenhagen" in market("list")


def search(client: Client, **parameters: str) -> Any:
    return client.get("/v1/restaurants", parameters).json()


@pytest.mark.exhaustive
def test_imports_searches_and_lists_know_a_new_market_at_once(client: Client, tmp_path: Path) -> None:
    builders.market("copenhagen")
    builders.source("osm")
    before = search(client, near="Lyon")
    Vocabulary.load()
    market("add", "Lyon")

    bouchon = feature({"amenity": "restaurant", "name": "Chez Paul"}, lat=45.765, lng=4.835)
    import_restaurants(geojson(tmp_path / "a.geojson", [bouchon]))

    assert before["error"]["code"] == "place_not_resolved"
    place = Restaurant.objects.get()
    assert (place.market_id, place.country) == ("lyon", "FR")
    for parameters in ({"near": "lyon", "radius": "5000"}, {"market": "lyon"}, {"q": "restaurants in lyon"}):
        found = search(client, **parameters)
        assert [hit["slug"] for hit in found["data"]] == ["chez-paul"], parameters
    assert [row["slug"] for row in client.get("/v1/markets").json()["data"]] == ["copenhagen", "lyon"]
    assert client.get("/v1/restaurants/chez-paul").json()["hours"]["timezone"] == "Europe/Paris"
