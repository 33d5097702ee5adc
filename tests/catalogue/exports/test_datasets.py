"""What each dataset says of a row is what the API says of it, and its flat columns say the same."""

import csv
import gzip
import io
import json
from collections.abc import Iterator
from datetime import date, timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from catalogue import field_groups, history, insights, photos, places
from catalogue.exports import datasets
from catalogue.exports.storage import files
from catalogue.models import Export, Insight, Landmark, Restaurant, Version
from catalogue.reviews import aggregates
from catalogue.reviews import listing as reviews_listing
from catalogue.reviews.listing import Order, ReviewQuery
from catalogue.search.geocoding import landmarks
from catalogue.serializers.history import EntryRecord
from catalogue.serializers.lookups import LandmarkRecord
from catalogue.serializers.paid_groups import PhotoRecord
from catalogue.serializers.restaurants import RestaurantRecord
from framework.api.renderers import JSONRenderer
from framework.public_ids import encode
from orders.models import MenuItem
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.support import builders as venues

pytestmark = pytest.mark.django_db(transaction=True)

# What JSON, CSV and COPY give a meaning of their own.
AWKWARD = 'Café "Ø" \\ 50%, \\. \\N \t\r\n\x01\x02\x7f \u2028 \U0001f363 {} %(since)s'


@pytest.fixture(autouse=True)
def _files(settings: Settings, tmp_path: Path) -> None:
    export_builders.keep_in(settings, tmp_path / "exports")


def exported(dataset: str, kind: str = "jsonl.gz", **wanted: Any) -> Export:
    """An export with its files."""
    made = Export.objects.create(
        dataset=dataset, format=kind, fingerprint=uuid4().hex, queue="dedicated", created_at=timezone.now(), **wanted
    )
    export_builders.run_to_end(made)
    assert made.status == "succeeded", made.error
    return made


def contents(export: Export) -> Iterator[bytes]:
    """Its files, in their order."""
    for part in export.parts.order_by("seq"):
        with files.storage().open(files.path_of(export, part)) as stored:
            yield stored.read()


def table(export: Export) -> list[dict[str, Any]]:
    """The rows of Parquet."""
    return [row for content in contents(export) for row in pq.read_table(io.BytesIO(content)).to_pylist()]


def cells(export: Export) -> list[dict[str, str]]:
    """The rows of CSV."""
    return [
        row
        for content in contents(export)
        for row in csv.DictReader(io.StringIO(gzip.decompress(content).decode(), newline=""))
    ]


def to_json(record: Any) -> Any:
    """What an answer says, as its reader sees it."""
    return json.loads(JSONRenderer().render(record))


def odd() -> list[Restaurant]:
    """Restaurants, reviews, photos and landmarks of every kind that is told of, and of some that are not."""
    plain, odd, empty = builders.restaurant(), builders.restaurant(name=AWKWARD), builders.restaurant()
    builders.source("wikidata", attribution="")
    builders.review(plain)
    replied = builders.review(
        odd,
        AWKWARD,
        stars=1,
        author=AWKWARD,
        lang="da",
        visited_on=date(2026, 2, 28),
        helpful_count=2_000_000_000,
        owner_reply=AWKWARD,
        owner_replied_at=builders.NOW + timedelta(microseconds=999_999),
        created_at=builders.NOW - timedelta(microseconds=1),
    )
    builders.review(odd, "Rather good", lang="")
    builders.photo(odd, review=replied, caption=AWKWARD, alt=AWKWARD, author=AWKWARD, created_at=builders.NOW)
    builders.photo(odd, review=replied, is_hidden=True)
    builders.photo(odd, review=replied, width=333, height=1, created_at=builders.NOW)
    builders.photo(plain, width=401, height=1203, author="", source=builders.source("wikidata"), kind="interior")
    builders.photo(plain, width=50_000, height=1, file="kept.jpg")
    builders.photo(plain, is_hidden=True)
    builders.landmark("Tivoli", AWKWARD, "Tivoli Gardens", market="copenhagen", wikidata="Q1")
    builders.landmark("Ærø", at=(-1e-7, 179.99999999999997))
    erased, lost = builders.restaurant(), builders.restaurant()
    for gone in (erased, lost):
        builders.review(gone, "Gone")
        builders.photo(gone)
    with transaction.atomic():
        aggregates.update_restaurants([place.pk for place in (plain, odd, empty, erased, lost)], now=builders.NOW)
    places.erase(erased, actor="staff:1", now=builders.NOW)
    Restaurant.objects.filter(pk=lost.pk).update(merged_into=plain)
    Restaurant.objects.filter(pk=odd.pk).update(
        name=AWKWARD[::-1], cuisine=builders.cuisine("pizza"), attributes={"a/b~": AWKWARD}, phone="+4532155656"
    )
    builders.cuisine("seafood")
    venue = venues.venue()
    venues.menu(venue)
    MenuItem.objects.update(name=AWKWARD, translations={"da": {"name": AWKWARD}}, allergens=["milk"])
    builders.listing(plain, venue)
    return [plain, odd, empty]


@pytest.mark.exhaustive
def test_reviews_are_exported_as_the_api_shows_them() -> None:
    expected = {}
    for place in odd():
        page = reviews_listing.list_reviews(
            place, ReviewQuery(sort=Order.NEWEST), now=timezone.now() + timedelta(days=400)
        )
        for row in page.values:
            expected[row["id"]] = {**row, "restaurant": place.slug}
    rows = export_builders.read_rows(exported("reviews"))
    assert {row["id"]: row for row in rows} == expected
    assert len(rows) == 3
    assert [row["lang"] for row in rows] == [None, "da", None]
    assert [len(row["photos"]) for row in rows] == [0, 2, 0]
    assert list(rows[0]) == list(datasets.DATASETS["reviews"].schema)


@pytest.mark.exhaustive
def test_photos_are_exported_as_the_api_shows_them_without_hidden_ones() -> None:
    expected = {}
    for place in odd():
        for row in to_json(PhotoRecord(photos.list_photos(place.pk, now=timezone.now()).rows, many=True).data):
            expected[row["id"]] = {**row, "restaurant": place.slug}
    rows = export_builders.read_rows(exported("photos"))
    assert {row["id"]: row for row in rows} == expected
    assert len(rows) == 4
    assert list(rows[0]) == list(datasets.DATASETS["photos"].schema)


@pytest.mark.exhaustive
def test_landmarks_are_exported_as_the_api_shows_them() -> None:
    odd()
    found = landmarks.search_landmarks(limit=50, now=timezone.now())
    rows = export_builders.read_rows(exported("landmarks"))
    by_id = {row["id"]: row for row in to_json(LandmarkRecord(found.rows, many=True).data)}
    assert {row["id"]: row for row in rows} == by_id
    assert len(rows) == Landmark.objects.count() == 2
    assert list(rows[0]) == list(datasets.DATASETS["landmarks"].schema)


@pytest.mark.exhaustive
def test_history_is_exported_as_the_api_shows_it() -> None:
    expected = {}
    for place in odd():
        listing = history.list_versions(place.slug, limit=50, now=timezone.now())
        for row in to_json(EntryRecord(listing.rows, many=True).data):
            expected[place.slug, row["version"]] = row
    rows = export_builders.read_rows(exported("history"))
    ids = dict(Restaurant.objects.values_list("slug", "pk"))
    for row in rows:
        assert row["id"] == f"{row['restaurant_id']}:{row['version']}"
        assert row["restaurant_id"] == make_id(ids[row["restaurant"]])
        key = (row["restaurant"], row["version"])
        assert {name: row[name] for name in expected[key]} == expected[key]
    assert (
        len(rows)
        == len(expected)
        == Version.objects.filter(restaurant__in=[ids[slug] for slug, _ in expected]).count()
    )
    assert {"Pizza"} <= {step["value"] for row in rows for step in row["patch"] if step["path"] == "/cuisine"}
    assert list(rows[0]) == list(datasets.DATASETS["history"].schema)


def make_id(pk: Any) -> str:
    """The public id of a restaurant."""
    return encode("rst", pk)


@pytest.mark.exhaustive
def test_groups_of_fields_are_exported_as_the_api_shows_them() -> None:
    call_command("demo_data", restaurants=60, reviews=900, seed=5, today=date(2026, 11, 21), stdout=StringIO())
    insights.refresh(now=timezone.now(), max_reviews=100)
    result = list(Insight.objects.exclude(text="").order_by("pk"))
    assert len(result) > 5
    Insight.objects.filter(pk=result[0].pk).update(hidden=True)
    Insight.objects.filter(pk=result[1].pk).update(generated_at=timezone.now() - timedelta(days=91))
    Insight.objects.filter(pk=result[2].pk).update(provider="another", model="x")
    names = ["reviews", "context", "ai_insight"]
    rows = export_builders.read_rows(exported("restaurants", fields=names))
    assert len(rows) == 60
    seen: set[tuple[str, Any]] = set()
    for row in rows:
        values = field_groups.read_record(row["slug"], groups=names, now=timezone.now()).values
        expected = to_json(RestaurantRecord(values).data)
        summary = expected.pop("reviews")
        assert row["reviews"] == (summary and {"summary": summary["summary"]})
        assert {name: row[name] for name in expected} == expected
        seen |= {("reviews", summary is None), ("context", expected["context"] is None)}
        seen |= {("reason", expected["ai_insight_reason"])}
        seen |= {("stale", (expected["ai_insight_detail"] or {}).get("stale"))}
    assert {("reviews", False), ("context", False), ("reason", None), ("reason", "withheld")} <= seen
    assert {("stale", True), ("stale", False)} <= seen


@pytest.mark.exhaustive
def test_an_insight_that_waits_for_staff_is_not_exported(settings: Settings) -> None:
    settings.INSIGHT_APPROVAL = "all"
    place = builders.restaurant(review_count=7)
    builders.insight(place)
    (row,) = export_builders.read_rows(exported("restaurants", fields=["ai_insight"]))
    result = (row["ai_insight"], row["ai_insight_detail"], row["ai_insight_reason"])
    assert result == (None, None, "awaiting_approval")
    Insight.objects.update(approved_at=builders.NOW)
    (row,) = export_builders.read_rows(exported("restaurants", fields=["ai_insight"]))
    assert row["ai_insight"] == "Guests talk most about the ramen."


@pytest.mark.exhaustive
@pytest.mark.parametrize("dataset", sorted(datasets.DATASETS))
def test_flat_columns_say_in_parquet_and_csv_what_the_lines_say(dataset: str) -> None:
    odd()
    fields = ["reviews", "context", "ai_insight"] if dataset == "restaurants" else []
    rows = export_builders.read_rows(exported(dataset, fields=fields))
    columns = [
        column.name
        for column in datasets.get_dataset(Export(dataset=dataset, fields=fields, created_at=builders.NOW)).columns
    ]
    typed, texts = (
        table(exported(dataset, "parquet", fields=fields)),
        cells(exported(dataset, "csv.gz", fields=fields)),
    )
    assert len(rows) == len(typed) == len(texts) > 0
    for row, flat, text in zip(rows, typed, texts, strict=True):
        assert list(flat) == list(text) == columns
        for name in columns:
            shown = row.get(name)
            if name not in row or (isinstance(shown, list | dict) and name != "patch"):
                continue
            if name == "patch":
                assert json.loads(flat[name]) == json.loads(text[name]) == shown
            elif shown is None:
                assert (flat[name], text[name]) == (None, "")
            elif hasattr(flat[name], "isoformat"):
                assert flat[name].isoformat()[:19] == str(shown)[:19] == text[name][:19]
            else:
                assert flat[name] == shown
                assert text[name] == str(shown) or json.loads(text[name]) == shown


@pytest.mark.exhaustive
def test_flat_restaurants_have_their_parts_in_columns() -> None:
    place = builders.restaurant(
        line1="Flæsketorvet 100",
        locality="Copenhagen",
        postal_code="1711",
        alt_names=[AWKWARD, ""],
        rating="4.5",
        phone="+4532155656",
        phone_verified_at=builders.NOW,
        attributes={"wifi": True},
    )
    builders.listed(place, "osm", "node/1")
    (row,) = table(exported("restaurants", "parquet"))
    (text,) = cells(exported("restaurants", "csv.gz"))
    assert row["address_formatted"] == "Flæsketorvet 100, 1711 Copenhagen, DK"
    assert (row["lat"], row["lng"], row["rating"]) == (*builders.TIVOLI, 4.5)
    assert (row["alt_names"], json.loads(text["alt_names"])) == ([AWKWARD, ""], [AWKWARD, ""])
    assert (row["phone_verified"], text["phone_verified"]) == (True, "true")
    assert row["phone_verified_at"] == builders.NOW
    assert json.loads(row["attributes"]) == {"wifi": True}
    assert [each["record"] for each in json.loads(row["sources"])] == ["node/1"]
    assert (row["cuisine"], row["cuisines"]) == ("Seafood", ["seafood"])


@pytest.mark.parametrize(
    ("dataset", "group", "words"),
    [
        ("restaurants", "photos", "`photos` is a dataset of its own: order an export of photos."),
        ("restaurants", "history", "`history` is a dataset of its own: order an export of history."),
        ("restaurants", "x", "`x` is no field group: there are core, reviews, context, ai_insight."),
        ("reviews", "ai_insight", "Field groups are of restaurants: an export of reviews has all its fields."),
        ("restaurants", "context", None),
        ("landmarks", "core", None),
    ],
    ids=["photos", "history", "unknown", "another dataset", "good", "always"],
)
def test_a_group_that_a_dataset_has_not_is_refused_with_a_message(dataset: str, group: str, words: str | None) -> None:
    assert datasets.find_group_error(dataset, group) == words


def test_landmarks_have_no_status_to_be_filtered_by() -> None:
    words = "An export of landmarks cannot be filtered by status."
    assert datasets.find_filter_error("landmarks", "status") == words
    assert [
        datasets.find_filter_error(name, "status") for name in ("restaurants", "reviews", "photos", "history")
    ] == [None] * 4
