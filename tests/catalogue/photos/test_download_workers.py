"""Several workers that download photos at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from catalogue.models import Photo, PhotoImport
from catalogue.photos import downloads
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.photos.photo_server import serving


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_workers_download_each_photo_once(settings: Settings, tmp_path: Path) -> None:
    stored = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "photos": stored}
    settings.WEBHOOKS_TO_LOOPBACK = True
    place, source = builders.restaurant(), builders.source()
    common = {"restaurant": place, "source": source, "record": "1", "alt": "It", "license": "CC0-1.0"}

    def work(_: int) -> None:
        try:
            while downloads.download_due(clock=lambda: NOW, duration_s=20):
                pass
        finally:
            connection.close()

    with serving() as server:
        for path in ("/a.png", "/b.jpg", "/c.png"):
            PhotoImport.objects.create(url=server.url(path), next_try_at=NOW, created_at=NOW, **common)
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(work, range(2)))
    assert (sorted(server.asked), Photo.objects.count()) == (["/a.png", "/b.jpg", "/c.png"], 2)
