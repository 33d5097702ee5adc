"""The sitemap lists each restaurant once, in files of ranges of keys."""

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import Mock
from xml.etree import ElementTree as ET

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.test import Client, RequestFactory

from catalogue import places
from catalogue.public_pages import sitemap
from framework.api.rate_limits.middleware import count_call
from payments.rate_limits import SITEMAP_FILES
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db

BASE = "https://tables.example.com"


@pytest.fixture(autouse=True)
def _three_a_file(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.PUBLIC_BASE_URL = BASE
    monkeypatch.setattr(sitemap, "PLANNED_ROWS", 3)
    monkeypatch.setattr(sitemap, "MAX_ROWS", 5)
    monkeypatch.setattr(sitemap, "BATCH_SIZE", 2)
    sitemap.cached_starts.clear()
    yield
    sitemap.cached_starts.clear()


def read(client: Client, path: str, tag: str) -> list[str]:
    response = client.get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "application/xml")
    content = response.getvalue()
    return [str(each.text) for each in ET.fromstring(content).iter() if each.tag.endswith("}" + tag)]  # noqa: S314  # our own


def files(client: Client) -> list[str]:
    first, *rest = [url.removeprefix(BASE) for url in read(client, "/sitemap.xml", "loc")]
    assert first == "/sitemap-pages.xml"
    return rest


def test_each_listed_restaurant_is_in_one_file(client: Client) -> None:
    rows = [
        builders.restaurant(slug=f"some-{number}", updated_at=NOW - timedelta(seconds=number)) for number in range(8)
    ]
    places.erase(rows[1], actor="staff", now=NOW)
    paths = files(client)
    assert len(paths) == 3
    found = [url for path in paths for url in read(client, path, "loc")]
    assert found == [
        f"{BASE}/restaurants/{row.slug}" for row in sorted(rows, key=lambda row: row.pk) if row != rows[1]
    ]
    changed = [moment for path in paths for moment in read(client, path, "lastmod")]
    assert sorted(changed) == [*(f"2026-11-21T17:59:5{second}Z" for second in range(3, 9)), "2026-11-21T18:00:00Z"]


def test_a_file_takes_later_restaurants_until_it_is_full(client: Client) -> None:
    for number in range(3):
        builders.restaurant(slug=f"some-{number}")
    (path,) = files(client)
    for number in range(3, 9):
        builders.restaurant(slug=f"some-{number}")
    with costing(3):
        assert len(read(client, path, "loc")) == 5
    with costing(0):
        for number in (0, 2, 99):
            assert client.get(f"/sitemap-restaurants-{number}.xml").status_code == 404
    sitemap.cached_starts.clear()
    assert len(files(client)) == 3


def test_an_empty_catalogue_has_no_file(client: Client) -> None:
    assert files(client) == []
    assert client.get("/sitemap-restaurants-1.xml").status_code == 404


def test_without_a_database_there_is_no_empty_index(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap.cached_starts, "load", Mock(side_effect=OperationalError("away")))
    assert client.get("/sitemap.xml").status_code == 503
    assert client.get("/sitemap-restaurants-1.xml").status_code == 503


def test_files_of_an_address_have_a_limit_of_their_own(client: Client, rf: RequestFactory) -> None:
    builders.restaurant()
    for _ in range(SITEMAP_FILES.limit):
        assert count_call(SITEMAP_FILES.policy, SITEMAP_FILES.allowance(rf.get("/"))).limit == 20
    assert client.get("/sitemap-restaurants-1.xml").status_code == 429
    assert client.get("/restaurants").status_code == 200
