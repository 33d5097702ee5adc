"""The landing page at `/`, also while the database is not available."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts.models import ApiCallCount
from accounts.request_log.daily_calls import Day, cached_history
from catalogue.agent_discovery import x402_manifest
from config.website import landing
from payments.models import Price
from reservations.demo import floor
from tests.catalogue import builders as catalogue_builders
from tests.support import builders
from tests.support.query_counts import costing


@pytest.fixture(autouse=True)
def _empty_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove what other tests cached."""
    landing.cached_extent.clear()
    cached_history.clear()
    landing.cached_example.clear()
    x402_manifest.cached_prices.clear()


@pytest.mark.django_db
def test_landing_page_is_public_and_sets_no_cookie() -> None:
    response = Client().get("/")
    text = response.content.decode()
    assert response.status_code == 200
    assert not response.cookies
    assert re.findall(r"<h1>(.+?)</h1>", text) == ["Take orders and reservations without double bookings"]
    for path in (
        "/account/signup/",
        "/account/login/",
        "/docs",
        "/status",
        "/terms",
        "/privacy",
        "/docs/paying",
        "/docs/mcp",
    ):
        assert f'href="{path}"' in text
    assert not re.search(r'\sstyle="|\son\w+="|<script>|<style', text)


@pytest.mark.django_db
def test_prices_are_current_and_cached(prices: None) -> None:
    Price.objects.filter(product="context").update(amount_usdc="0.0042")
    catalogue_builders.restaurant()
    with connection.cursor() as cursor:
        # Without an estimate its rows are counted.
        cursor.execute("ANALYZE catalogue_searchrow")
    landing.cached_example.get(max_age_s=60)
    with costing(4):
        first = Client().get("/").content.decode()
    assert "context <strong>0.0042</strong>" in first
    assert "<code>fields=context</code> costs <strong>0.0042 USDC</strong>" in first
    with costing(0):
        assert Client().get("/").content.decode() == first


@pytest.mark.django_db
def test_landing_page_shows_an_answer_of_the_data_api() -> None:
    assert "<code>curl 'http" in Client().get("/").content.decode()
    landing.cached_example.clear()
    # No place called Tivoli is known: the city of the first market.
    place = catalogue_builders.restaurant()
    text = Client().get("/").content.decode()
    (answer,) = re.findall(r'aria-label="Response"><code>(.+?)</code>', text, re.DOTALL)
    assert '<span class="c-nt">"data"</span>' in answer
    plain = re.sub(r"<[^>]+>", "", answer)
    assert [hit["slug"] for hit in json.loads(unescape(plain))["data"]] == [place.slug]
    assert f'value="{place.market.name}"' in text
    assert f'href="/v1/restaurants/{place.slug}?fields=context"' in text


@pytest.mark.django_db
def test_landing_page_links_to_the_booking_page_of_the_demo_restaurant() -> None:
    venue = builders.venue("Demo Osteria")
    floor.add_floor(venue)
    text = Client().get("/").content.decode()
    assert f'href="/book/{venue.public_id}"' in text
    assert Client().get(f"/book/{venue.public_id}").status_code == 200


def test_landing_page_has_no_counts_while_the_database_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(connection, "ensure_connection", away)
    monkeypatch.setattr(landing.cached_extent, "load", away)
    monkeypatch.setattr(landing.cached_example, "load", away)
    monkeypatch.setattr(x402_manifest.cached_prices, "load", away)
    response = Client().get("/")
    assert response.status_code == 200
    assert "Applications and agents search restaurants, and pay per call." in response.content.decode()


@pytest.mark.django_db
def test_landing_page_and_its_files_have_less_than_100_kilobytes() -> None:
    response = Client().get("/")
    names = re.findall(r'(?:src|href)="/static/([^"#]+)', response.content.decode())
    files = {name: Path(settings.BASE_DIR) / "config" / "static" / name for name in names}
    assert len(response.content) + sum(file.stat().st_size for file in files.values()) < 100_000


@pytest.mark.django_db
def test_methods_other_than_get_and_head_are_refused() -> None:
    assert Client().post("/").status_code == 405
    assert Client().head("/").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("states", "heading", "code"),
    [
        ({"database": "ok", "counters": "ok"}, "All systems operational", 200),
        ({"database": "ok", "counters": "away"}, "The service is degraded", 200),
        ({"database": "away", "counters": "ok"}, "The service is unavailable", 503),
    ],
)
def test_status_page_shows_the_state_of_each_service(
    monkeypatch: pytest.MonkeyPatch, states: dict[str, str], heading: str, code: int
) -> None:
    monkeypatch.setattr("config.website.status.component_states", lambda: states)
    response = Client().get("/status")
    text = response.content.decode()
    assert (response.status_code, re.findall("<h1>(.+?)</h1>", text)) == (code, [heading])
    assert re.search(r"Checked \d+ \w+, [\d:]{5} UTC", text)
    assert re.search(r"Running since \d+ \w+, [\d:]{5} UTC", text)
    rows = re.findall(r"<li><div><strong>([^<]+)</strong><p.+?</p></div><span class=\"([a-z ]+)\">(\w+)</span>", text)
    by_state = {"ok": ("state", "Up"), "away": ("state down", "Down")}
    needs_database = ["APIs", "Dashboard", "Booking and ordering pages", "Database"]
    assert rows == [
        *((name, *by_state[states["database"]]) for name in needs_database),
        ("Rate limits", *by_state[states["counters"]]),
    ]
    assert not response.cookies


@pytest.mark.django_db
def test_status_page_shows_the_share_of_calls_without_server_errors_by_day() -> None:
    midnight = datetime.combine(timezone.now().astimezone(UTC), datetime.min.time(), UTC)
    venue = builders.venue()
    for days, calls, server_errors in ((0, 10, 0), (1, 40_000, 1), (2, 50, 2), (30, 10, 10)):
        for hour in (0, 23):
            # Halves, in two hours of the day.
            counts = {"calls": calls, "server_errors": server_errors}
            ApiCallCount.objects.create(venue=venue, hour=midnight - timedelta(days=days, hours=-hour), **counts)
    text = Client().get("/status").content.decode()
    bars = re.findall(r'<li class="(\w+)" title="[^:]+: ([^"]+)">', text)
    assert len(bars) == 30
    assert bars[-4:] == [("none", "no calls"), ("bad", "96 %"), ("warn", "99.99 %"), ("good", "100 %")]
    assert "99.99 % answered" in text
    assert re.findall(r'<span class="state (\w+)">([^<]+)</span>', text) == [
        ("partly", "99.99 % answered"),
        ("down", "96 % answered"),
    ]
    assert "2 days with server errors" in text


@pytest.mark.django_db
def test_status_page_has_no_history_without_calls_or_without_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'class="history"' not in Client().get("/status").content.decode()

    def away() -> list[Day]:
        raise OperationalError

    cached_history.clear()
    monkeypatch.setattr(cached_history, "load", away)
    assert 'class="history"' not in Client().get("/status").content.decode()


@pytest.mark.django_db
def test_status_page_asks_the_services() -> None:
    assert "All systems operational" in Client().get("/status").content.decode()
