"""The page at `/`: what this is, also while the database is away."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client

from catalogue.agent_discovery import x402_manifest
from config.website import landing
from payments.models import Price
from reservations import seed
from tests.support import builders
from tests.support.query_counts import costing


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered from tests before."""
    monkeypatch.setattr(landing.lately, "kept", None)
    monkeypatch.setattr(x402_manifest.lately_priced, "kept", None)


@pytest.mark.django_db
def test_the_landing_page_says_what_this_is_to_everybody_and_sets_no_cookie() -> None:
    response = Client().get("/")
    text = response.content.decode()
    assert response.status_code == 200
    assert not response.cookies
    assert re.findall(r"<h1>(.+?)</h1>", text) == ["Orders, tables and restaurant data over one API"]
    for path in ("/account/signup/", "/account/login/", "/docs", "/readyz", "/docs/paying", "/docs/mcp"):
        assert f'href="{path}"' in text
    assert not re.search(r'\sstyle="|\son\w+="|<script>|<style', text)


@pytest.mark.django_db
def test_prices_are_those_of_the_moment_and_of_a_minute_at_most(prices: None) -> None:
    Price.objects.filter(product="context").update(amount_usdc="0.0042")
    with costing(5):
        first = Client().get("/").content.decode()
    assert "context <strong>0.0042</strong>" in first
    with costing(0):
        assert Client().get("/").content.decode() == first


@pytest.mark.django_db
def test_the_demo_restaurant_can_be_booked_from_the_page() -> None:
    venue = builders.venue("Demo Osteria")
    seed.load(venue)
    text = Client().get("/").content.decode()
    assert f'href="/book/{venue.public_id}"' in text
    assert Client().get(f"/book/{venue.public_id}").status_code == 200


def test_without_a_database_the_page_is_there_without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(connection, "ensure_connection", away)
    monkeypatch.setattr(landing.lately, "read", away)
    monkeypatch.setattr(x402_manifest.lately_priced, "read", away)
    response = Client().get("/")
    assert response.status_code == 200
    assert "Applications and agents search restaurants, and pay per call." in response.content.decode()


@pytest.mark.django_db
def test_the_whole_page_is_less_than_a_hundred_kilobytes() -> None:
    response = Client().get("/")
    names = re.findall(r'(?:src|href)="/static/([^"#]+)', response.content.decode())
    files = {name: Path(settings.BASE_DIR) / "config" / "static" / name for name in names}
    assert len(response.content) + sum(file.stat().st_size for file in files.values()) < 100_000


@pytest.mark.django_db
def test_only_reading_is_served() -> None:
    assert Client().post("/").status_code == 405
    assert Client().head("/").status_code == 200
