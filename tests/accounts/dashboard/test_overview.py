"""The overview of a venue: set-up steps and activity, and the page of API usage."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from accounts.dashboard.api_usage import CallCounts, build_chart, chart_calls
from accounts.models import ApiCallCount, SandboxClock, Venue
from orders import commands
from tests.support import builders, users
from tests.support.query_counts import costing


def page_of(venue: Venue, role: str = "owner", *, path: str = "") -> str:
    """The overview, or another page, as a user with this role sees it."""
    return users.member(venue, role).get(f"/dashboard/{venue.public_id}{path}").content.decode()


def steps_of(page: str) -> list[tuple[str, bool]]:
    """The labels of the set-up steps of a page, and whether each is done."""
    steps = re.findall(r'<li( class="done")?><span class="mark"[^>]*>✓?</span><(?:a|span)[^>]*>([^<]+)<', page)
    return [(label, bool(done)) for done, label in steps]


@pytest.mark.exhaustive
def test_the_overview_costs_a_handful_of_queries(venue: Venue) -> None:
    owner = users.member(venue)
    for _ in range(3):
        builders.order(venue)
    builders.key(venue)
    # The frame's five, the events, and those of the four fragments; the set-up steps read keys, which are not counted.
    with costing(24):
        page = owner.get(f"/dashboard/{venue.public_id}").content.decode()
    for part in ("orders/today", "reservations/today", "reports/week", "reservations/week"):
        assert owner.get(f"/dashboard/{venue.public_id}/{part}").content.decode() in page, part


def test_hours_and_days_are_those_of_the_venues_clock(venue: Venue) -> None:
    now = datetime(2026, 11, 22, 0, 30, tzinfo=UTC)
    for hour, amounts in (
        (datetime(2026, 11, 21, 22, tzinfo=UTC), (5, 1, 0)),
        (datetime(2026, 11, 21, 23, tzinfo=UTC), (7, 0, 2)),
        (datetime(2026, 10, 23, 22, tzinfo=UTC), (3, 0, 0)),
        (datetime(2026, 10, 23, 21, tzinfo=UTC), (9, 0, 0)),
    ):
        counted = dict(zip(("calls", "client_errors", "server_errors"), amounts, strict=True))
        ApiCallCount.objects.create(venue=venue, hour=hour, **counted)
    day, month = chart_calls(venue, now=now)
    assert [each.text for each in day["counts"] if each.calls] == [
        "21 Nov 2026, 23:00: 5 calls, 1 refused (4xx), 0 failed (5xx)",
        "22 Nov 2026, 00:00: 7 calls, 0 refused (4xx), 2 failed (5xx)",
    ]
    assert (day["total"], day["client_errors"], day["server_errors"], len(day["chart"].bars)) == (12, "1", "2", 24)
    # Rome's 24 October begins at 22:00 UTC; what came before is of the day before.
    assert [each.text for each in month["counts"] if each.calls] == [
        "24 Oct 2026: 3 calls",
        "21 Nov 2026: 5 calls, 1 refused (4xx), 0 failed (5xx)",
        "22 Nov 2026: 7 calls, 0 refused (4xx), 2 failed (5xx)",
    ]


def test_refused_calls_of_a_chart_link_to_their_requests(venue: Venue) -> None:
    owner, now = users.member(venue), timezone.now()
    ApiCallCount.objects.create(
        venue=venue, hour=now.replace(minute=0, second=0, microsecond=0), calls=3, client_errors=2
    )
    page = owner.get(f"/dashboard/{venue.public_id}/usage").content.decode()
    requests = f"/dashboard/{venue.public_id}/requests"
    assert f'<a href="{requests}?status=4&amp;range=24h">2 refused (4xx)</a>' in page
    assert f'<a href="{requests}?status=4&amp;range=">2 refused (4xx)</a>' in page
    assert '<span class="b">0 failed (5xx)</span>' in page


def test_refused_and_failed_calls_are_stacked_upon_the_answered_ones() -> None:
    found = build_chart("x", [CallCounts("a", "a", 100, 30, 20), CallCounts("b", "b")])
    parts = found["chart"].bars[0].parts
    assert [part.style for part in parts] == ["a", "c", "b"]
    assert sum(part.height for part in parts) == 136
    assert parts[-1].y == 10
    assert [line.label for line in found["chart"].grid] == ["0", "50", "100"]
    assert build_chart("nothing", [])["total"] == 0


@pytest.mark.exhaustive
def test_calls_of_this_hour_stand_beside_the_allowance_and_looking_counts_none(venue: Venue) -> None:
    api = builders.client(venue, allowance=10)
    for _ in range(9):
        api.get("/api/v1/orders")
    for _ in range(2):
        page = page_of(venue, path="/usage")
        assert "9 of 10" in page
        assert "nearly used up" in page
    assert api.get("/api/v1/orders").headers["X-RateLimit-Remaining"] == "0"
    assert "used up" in page_of(venue, path="/usage")


@pytest.mark.exhaustive
def test_changes_of_a_team_are_mailed_to_those_concerned(venue: Venue) -> None:
    order = builders.order(venue)
    commands.change_status(order, "completed", now=timezone.now(), actor="staff:chef@example.com")
    reservation = builders.reservation(venue)
    page = page_of(venue)
    assert f"Order {order.number}</a> was placed" in page
    assert f"Order {order.number}</a> was completed" in page
    assert "by chef@example.com" in page
    assert f"Reservation {reservation.code} for 4</a> was created" in page
    assert "Lovelace" not in page
    kitchen = page_of(venue, "kitchen")
    assert f"Order {order.number}</a> was placed" in kitchen
    assert reservation.code not in kitchen


def test_events_of_other_venues_are_not_delivered(venue: Venue, other_venue: Venue) -> None:
    builders.order(other_venue)
    assert "No activity yet." in page_of(venue)


@pytest.mark.exhaustive
def test_the_set_up_steps_are_in_the_order_of_an_owner_and_go_away_when_all_are_done(venue: Venue) -> None:
    labels = [
        "Publish your menu",
        "Add your tables",
        "Set your hours",
        "Open your booking page",
        "Invite your team",
        "Make an API call with your key",
        "Add a webhook",
    ]
    assert steps_of(page_of(venue)) == [(label, False) for label in labels]
    builders.menu(venue)
    builders.table(venue)
    builders.period(venue)
    page = page_of(venue)
    assert steps_of(page) == [(label, label in labels[:3]) for label in labels]
    assert f'<a href="/dashboard/{venue.public_id}/settings/booking">Open your booking page</a>' in page
    builders.key(venue)
    Venue.objects.filter(pk=venue.pk).update(is_bookable_online=True)
    users.member(venue, "kitchen")
    venue.webhook_endpoints.create(url="https://hooks.example.com", secret=b"x")
    assert "Set up your restaurant" not in page_of(venue)


def test_a_sandbox_needs_neither_menu_nor_tables(db: None) -> None:
    page = page_of(builders.venue(is_sandbox=True))
    assert steps_of(page) == [("Make an API call with your key", False), ("Add a webhook", False)]


def test_a_sandbox_shows_its_own_clock(db: None) -> None:
    sandbox = builders.venue(is_sandbox=True, timezone="UTC")
    assert "Its clock was advanced by a test." not in page_of(sandbox)
    SandboxClock.objects.create(venue=sandbox, offset=timedelta(days=400), ran_until=timezone.now())
    page = page_of(sandbox)
    assert "Its clock was advanced by a test." in page
    assert date_format(timezone.now() + timedelta(days=400), "SHORT_DATE_FORMAT") in page


def test_who_has_no_part_in_keys_sees_no_calls(venue: Venue) -> None:
    ApiCallCount.objects.create(venue=venue, hour=timezone.now() - timedelta(hours=1), calls=5)
    assert steps_of(page_of(venue, "kitchen")) == []
    assert "Calls this hour" not in page_of(venue, "kitchen", path="/usage")


def test_a_stranger_is_sent_to_sign_in_and_another_venues_owner_finds_nothing(
    venue: Venue, other_venue: Venue
) -> None:
    assert "/account/login/" in Client().get(f"/dashboard/{venue.public_id}").headers["Location"]
    assert users.member(other_venue).get(f"/dashboard/{venue.public_id}").status_code == 404
