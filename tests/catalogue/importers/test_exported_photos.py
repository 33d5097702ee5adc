"""Our own export of photos is read back: a worker downloads each photo once, with its texts and source."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.requests import commands
from catalogue.models import Photo, PhotoImport
from catalogue.photos import downloads
from payments.interface import TIERS
from tests.catalogue import builders
from tests.catalogue.exports.export_builders import keep_in, read_rows, run_to_end, wallet_without_key
from tests.catalogue.importers.import_runs import json_lines
from tests.catalogue.photos.photo_server import serving

pytestmark = pytest.mark.django_db(transaction=True)

COLUMNS = ("restaurant", "kind", "caption", "alt", "author", "license", "source")


def export_photos() -> list[dict[str, Any]]:
    export = commands.create_export(
        wallet_without_key().address,
        tier=TIERS["enterprise"],
        dataset="photos",
        format="jsonl.gz",
        filter={},
        now=timezone.now(),
    )
    run_to_end(export)
    assert export.status == "succeeded", export.error
    return list(read_rows(export))


@pytest.fixture(autouse=True)
def _photos_from_loopback(settings: Settings, tmp_path: Path) -> None:
    keep_in(settings, tmp_path)
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path / "photos"}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    settings.WEBHOOKS_TO_LOOPBACK = True


@pytest.mark.exhaustive
def test_exported_photos_that_are_imported_into_an_emptied_table_are_the_same(tmp_path: Path) -> None:
    noma, geranium = builders.restaurant(slug="noma"), builders.restaurant(slug="geranium")
    builders.photo(noma, kind="interior", caption="The room", alt="A room", author="Ada", license="CC-BY-4.0")
    builders.photo(geranium, caption=None)
    rows = list(Photo.objects.order_by("pk").values(*COLUMNS))
    with serving() as server:
        # The exporting installation has this address.
        exported = [{**row, "url": server.url(f"/{row['restaurant']}.png")} for row in export_photos()]
        server.answers = {f"/{slug}.png": server.answers["/a.png"] for slug in ("noma", "geranium")}
        file = json_lines(tmp_path / "photos.jsonl", exported)

        call_command("catalogue_import", "photos", file, verbosity=0)
        assert PhotoImport.objects.count() == 0  # They are there.

        Photo.objects.all().delete()
        for _ in range(2):
            call_command("catalogue_import", "photos", file, verbosity=0)
            assert not downloads.download_due(clock=timezone.now, duration_s=20)
        assert list(Photo.objects.order_by("pk").values(*COLUMNS)) == rows
        assert sorted(server.asked) == ["/geranium.png", "/noma.png"]


@pytest.mark.exhaustive
def test_photos_of_unknown_restaurants_and_sources_are_rejected(tmp_path: Path) -> None:
    builders.photo(builders.restaurant(slug="noma"))
    (row,) = export_photos()
    row["url"] = "https://example.com/a.webp"
    lines = [{**row, "restaurant": "unknown"}, {**row, "source": "unknown"}, {**row, "id": "7"}]
    file, rejects = json_lines(tmp_path / "photos.jsonl", lines), tmp_path / "rejects"
    Photo.objects.all().delete()
    with pytest.raises(CommandError, match="3 of 3 rows were rejected"):
        call_command("catalogue_import", "photos", file, rejects=rejects, verbosity=0)
    for reason in (
        "restaurant: 'unknown' is not in the catalogue; import the restaurants first.",
        "source: 'unknown' is not known; add it in the admin.",
        "id: this is no id of a photo (ph_...).",
    ):
        assert reason in rejects.read_text()
    assert PhotoImport.objects.count() == 0
