"""The rows of an export are what GET /v1/restaurants/{slug} answers, but for what depends on the moment."""

from collections.abc import Iterator
from datetime import date, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from catalogue.exports.datasets import DATASETS
from catalogue.hours import Hours
from catalogue.models import Restaurant
from tests.catalogue import builders
from tests.catalogue.exports import export_builders

pytestmark = pytest.mark.django_db(transaction=True)

NIGHTS = Hours.from_json(builders.week("18:00", "02:00")).to_json()
# What JSON, CSV and COPY give a meaning of their own.
AWKWARD = 'Café "Ø" \\ 50%, \\. \\N \t\r\n\x01\x02\x7f \u2028 \U0001f363 {}'


@pytest.fixture(autouse=True)
def _files(settings: Settings, tmp_path: Path) -> None:
    export_builders.keep_in(settings, tmp_path / "exports")


def answered() -> Iterator[dict[str, Any]]:
    """What the API says of each restaurant, in the order of their keys, without what depends on the moment."""
    for number, slug in enumerate(Restaurant.objects.order_by("pk").values_list("slug", flat=True)):
        # Each address has an allowance of its own.
        record = Client(REMOTE_ADDR=f"10.0.{number // 250}.{number % 250}").get(f"/v1/restaurants/{slug}").json()
        del record["flow_offer"]
        for name in ("state", "open_now", "next_change"):
            del record["hours"][name]
        yield record


@pytest.mark.exhaustive
def test_generated_restaurants_are_exported_as_the_api_shows_them() -> None:
    call_command(
        "demo_data",
        restaurants=120,
        reviews=600,
        seed=3,
        today=date(2026, 11, 21),
        stdout=StringIO(),
        stderr=StringIO(),
    )
    exported = export_builders.read_rows(export_builders.create_finished(rows_per_part=50))
    assert len(exported) == 120
    assert exported == list(answered())
    assert {row["rating"] for row in exported} != {None}


@pytest.mark.exhaustive
def test_odd_restaurants_are_exported_as_the_api_shows_them() -> None:
    builders.restaurant()
    builders.restaurant(latitude=None, longitude=None, cuisines=[])
    builders.restaurant(name=AWKWARD, alt_names=[AWKWARD, ""], neighborhood=AWKWARD, line1=AWKWARD)
    builders.restaurant(line1="", locality="", region="", postal_code="")
    builders.restaurant(line1="", locality="Copenhagen", postal_code="")
    builders.restaurant(postal_code="1711", region="Hovedstaden")
    builders.restaurant(line1="Flæsketorvet 100", locality="Copenhagen", postal_code="1711", region="")
    builders.restaurant(rating="4.0", review_count=3, price_level=4, website="https://example.com/?a=1&b=%C3%B8")
    builders.restaurant(hours=NIGHTS, status="moved", verified_at=builders.NOW, version=2_000_000_000)
    builders.restaurant(hours=NIGHTS | {"known": False, "display": []})
    builders.restaurant(hours={"timezone": "Europe/Copenhagen"})
    builders.restaurant(hours=["broken"])
    builders.restaurant(hours=NIGHTS | {"display": ["Never"]})
    builders.restaurant(hours=NIGHTS | {"periods": "broken"})
    builders.restaurant(hours=NIGHTS | {"timezone": "Europe/Atlantis"})
    builders.restaurant(hours=builders.week("18:00", "24:00") | {"osm": "Mo-Su 18:00-24:00"})
    builders.restaurant(
        phone="+4532155656",
        phone_verified_at=builders.NOW + timedelta(microseconds=999_999),
        updated_at=builders.NOW + timedelta(microseconds=500_000),
        attributes={"takeaway": True, "internet_access": AWKWARD.replace("\x7f", ""), "depth": {"of": [1, 2.5, None]}},
        external_ids={"wikidata": "Q1"},
    )
    attributed = builders.restaurant(longitude=-179.99999999999997, latitude=1e-7)
    builders.listed(attributed, "wikidata", "Q2")
    builders.listed(attributed, "osm", "node/2")
    builders.listed(attributed, "osm", "node/1")
    assert export_builders.read_rows(export_builders.create_finished()) == list(answered())


def test_a_row_has_the_fields_of_the_schema_in_its_order() -> None:
    builders.restaurant()
    (row,) = export_builders.read_rows(export_builders.create_finished())
    assert list(row) == list(DATASETS["restaurants"].schema)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("wanted", "slugs"),
    [
        ({}, ["closed", "new", "oslo"]),
        ({"market": "oslo"}, ["oslo"]),
        ({"status": "permanently_closed"}, ["closed"]),
        ({"updated_since": "2026-11-21T18:00:01Z"}, ["new"]),
        ({"updated_since": "2026-11-21T18:00:00Z"}, ["closed", "new", "oslo"]),
        ({"market": "oslo", "status": "moved"}, []),
    ],
)
def test_a_filter_leaves_the_rows_that_meet_all_its_conditions(wanted: dict[str, str], slugs: list[str]) -> None:
    builders.restaurant(slug="closed", status="permanently_closed")
    builders.restaurant(slug="new", updated_at=builders.NOW + timedelta(seconds=1))
    builders.restaurant(slug="oslo", market="oslo")
    export = export_builders.create_finished(**wanted)
    assert sorted(row["slug"] for row in export_builders.read_rows(export)) == slugs
    assert (export.rows, export_builders.read_manifest(export)["rows"]) == (len(slugs), len(slugs))


def test_the_manifest_names_the_licences_of_the_sources_contained_and_of_no_others() -> None:
    builders.source("native", license="LicenseRef-Proprietary")
    builders.listed(builders.restaurant(), "osm")
    builders.source("wikidata", name="Wikidata", license="CC0-1.0", attribution="Wikidata, CC0")
    builders.listed(builders.restaurant(), "wikidata")
    licences = export_builders.read_manifest(export_builders.create_finished(rows_per_part=1))["licences"]
    assert licences == [
        {"source": "osm", "name": "osm", "license": "ODbL-1.0", "attribution": "© osm", "share_alike": True},
        {
            "source": "wikidata",
            "name": "Wikidata",
            "license": "CC0-1.0",
            "attribution": "Wikidata, CC0",
            "share_alike": False,
        },
    ]


def test_parts_share_the_rows_in_the_order_of_their_keys() -> None:
    for _ in range(7):
        builders.restaurant()
    export = export_builders.create_finished(rows_per_part=3)
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug FROM catalogue_restaurant ORDER BY id")
        slugs = [slug for (slug,) in cursor.fetchall()]
    assert [row["slug"] for row in export_builders.read_rows(export)] == slugs
    assert list(export.parts.order_by("seq").values_list("rows", flat=True)) == [3, 3, 1]
