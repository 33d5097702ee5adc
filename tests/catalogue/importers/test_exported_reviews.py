"""Our own export of reviews is read back: the same reviews, with their ids, sources and exact stars."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.requests import commands
from catalogue.exports.storage import files
from catalogue.models import Export, Restaurant, Review
from catalogue.reviews import aggregates
from payments.interface import TIERS
from tests.catalogue import builders
from tests.catalogue.exports.export_builders import keep_in, read_rows, run_to_end, wallet_without_key
from tests.catalogue.importers.import_runs import json_lines

pytestmark = pytest.mark.django_db(transaction=True)

LINE: dict[str, Any] = {
    "id": "rev_74macxard6b73tm06ra39arec4",
    "restaurant": "noma",
    "stars": 4,
    "rating": 3.5,
    "text": "Fine.",
    "lang": "en",
    "author": "Ada",
    "visited_on": None,
    "created_at": "2026-11-01T10:00:00Z",
    "helpful_count": 0,
    "photos": [],
    "owner_reply": None,
    "source": "demo",
}


def export_reviews() -> Export:
    export = commands.create_export(
        wallet_without_key().address,
        tier=TIERS["enterprise"],
        dataset="reviews",
        format="jsonl.gz",
        filter={},
        now=timezone.now(),
    )
    run_to_end(export)
    assert export.status == "succeeded", export.error
    return export


def aggregates_of_restaurants() -> list[Any]:
    return list(Restaurant.objects.order_by("pk").values("slug", "rating", "review_count", "star_counts"))


@pytest.mark.exhaustive
def test_an_export_that_is_imported_into_an_emptied_table_makes_the_same_reviews(
    settings: Settings, tmp_path: Path
) -> None:
    keep_in(settings, tmp_path)
    noma, other, now = builders.restaurant(slug="noma"), builders.restaurant(slug="geranium"), timezone.now()
    builders.review(noma, "Wonderful.", stars=4, rating=Decimal("3.5"), visited_on=now.date(), helpful_count=7)
    builders.review(noma, "", stars=2)
    builders.review(other, "Dejligt sted\nog god vin.", lang="da", owner_reply="Tak!", owner_replied_at=builders.NOW)
    with transaction.atomic():
        aggregates.update_restaurants([noma.pk, other.pk])
    columns = [field.attname for field in Review._meta.fields if field.name != "updated_at"]
    rows, counted = list(Review.objects.order_by("pk").values(*columns)), aggregates_of_restaurants()
    export = export_reviews()
    exported = read_rows(export)
    (part,) = export.parts.all()
    path = tmp_path / "reviews.jsonl.gz"
    with files.storage().open(files.path_of(export, part)) as stored:
        path.write_bytes(stored.read())
    Review.objects.all().delete()
    for _ in range(2):
        call_command("catalogue_import", "reviews", str(path))
        assert list(Review.objects.order_by("pk").values(*columns)) == rows
        assert aggregates_of_restaurants() == counted
    assert read_rows(export_reviews()) == exported


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"restaurant": "nobody"}, "restaurant: 'nobody' is not in the catalogue; import the restaurants first."),
        ({"source": "elsewhere"}, "source: 'elsewhere' is not known; add it in the admin."),
        ({"id": "rev_1"}, "id: this is no id of a review (rev_...)."),
        ({"rating": 9}, None),
        ({"author": ""}, None),
    ],
)
def test_a_review_that_cannot_be_stored_is_rejected_with_its_reason(
    tmp_path: Path, changes: dict[str, Any], reason: str | None
) -> None:
    builders.restaurant(slug="noma")
    builders.source("demo")
    good = LINE | {"id": "rev_74macxard6b73tm06ra39arec0"}
    path, rejects = json_lines(tmp_path / "reviews.jsonl", [good, LINE | changes]), tmp_path / "rejects.jsonl"
    with pytest.raises(CommandError, match="1 of 2 rows were rejected"):
        call_command("catalogue_import", "reviews", str(path), "--rejects", str(rejects))
    (rejected,) = map(json.loads, rejects.read_text().splitlines())
    assert rejected["number"] == 2
    assert reason is None or rejected["reason"] == reason
    assert [(review.stars, review.rating) for review in Review.objects.all()] == [(4, Decimal("3.5"))]


@pytest.mark.exhaustive
def test_no_review_moves_to_another_restaurant(tmp_path: Path) -> None:
    builders.source("demo")
    for slug in ("noma", "geranium"):
        builders.restaurant(slug=slug)
    call_command("catalogue_import", "reviews", str(json_lines(tmp_path / "first.jsonl", [LINE])))
    moved = json_lines(tmp_path / "second.jsonl", [LINE | {"restaurant": "geranium"}])
    with pytest.raises(CommandError, match="1 of 1 rows were rejected"):
        call_command("catalogue_import", "reviews", str(moved), "--rejects", str(tmp_path / "rejects"))
    assert Review.objects.get().restaurant.slug == "noma"
