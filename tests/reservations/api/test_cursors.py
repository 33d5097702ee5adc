"""Lists of reservations by cursor: nothing is repeated or left out, and who follows changes misses none."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import Venue
from accounts.models.counters import RecordCounts
from reservations.booking import commands
from reservations.models import Reservation
from reservations.serializers import COMMIT_LAG
from tests.support import builders
from tests.support.query_counts import costing

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SINCE = {"updated_since": "2026-11-21T12:00:00Z"}
SECOND = timedelta(seconds=1)
VERSIONS = pytest.mark.parametrize("path", ["/api/v1/reservations", "/api/v2/reservations"])


def ask(api: Client, path: str = "/api/v1/reservations", **params: str) -> tuple[list[str], dict[str, Any]]:
    """The names of the guests of a page, and its position."""
    answer = api.get(path, params)
    assert answer.status_code == 200, answer.json()
    return [record["customer_name"] for record in answer.json()["data"]], answer.json()["pagination"]


def reserve(venue: Venue, name: str, at: datetime = NOON, *, now: datetime = NOON) -> Reservation:
    """A reservation of this name, made at this moment."""
    with time_machine.travel(now, tick=False):
        return builders.reservation(venue, customer_name=name, starts_at=at)


def confirm(reservation: Reservation, *, now: datetime) -> None:
    commands.set_status(reservation, "confirmed", now=now, actor="system")


@VERSIONS
@pytest.mark.django_db
def test_a_cursor_leads_through_all_reservations_once_while_others_are_made(
    api: Client, venue: Venue, path: str
) -> None:
    # Several of one moment, which ends within a page.
    for number in range(7):
        reserve(venue, str(number), NOON + number // 3 * timedelta(hours=1))
    found, position = ask(api, path, limit="2")
    assert position["page"] == 1
    while position["next_cursor"]:
        reserve(venue, "earlier", NOON - timedelta(days=1))
        with costing(2):
            names, position = ask(api, path, cursor=position["next_cursor"], limit="2")
        found += names
        assert position.keys() == {"limit", "has_more", "next_cursor"}
        assert position["has_more"] == bool(position["next_cursor"])
    assert found == ["0", "1", "2", "3", "4", "5", "6"]


@pytest.mark.django_db
def test_a_cursor_keeps_the_filters_and_is_refused_with_others(api: Client, venue: Venue, other_venue: Venue) -> None:
    for number in range(4):
        confirm(reserve(venue, f"of the day {number}"), now=NOON)
        reserve(venue, "pending")
        confirm(reserve(venue, "of the next", NOON + timedelta(days=1)), now=NOON)
    filters = {"date": "2026-11-21", "status": "confirmed"}
    _, position = ask(api, **filters, limit="2")
    cursor = position["next_cursor"]
    assert ask(api, **filters, cursor=cursor) == (
        ["of the day 2", "of the day 3"],
        {"limit": 1000, "has_more": False, "next_cursor": None},
    )
    for caller, params, param in (
        (api, {"cursor": cursor}, "cursor"),
        (api, filters | {"cursor": cursor, "status": "pending"}, "cursor"),
        (api, filters | SINCE | {"cursor": cursor}, "cursor"),
        (builders.client(other_venue), filters | {"cursor": cursor}, "cursor"),
        (api, filters | {"cursor": f"{cursor}x"}, "cursor"),
        (api, filters | {"cursor": cursor, "page": "1"}, "page"),
        (api, {"updated_since": "yesterday"}, "updated_since"),
    ):
        answer = caller.get("/api/v1/reservations", params)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param), params


@pytest.mark.parametrize(("params", "page"), [({}, 1), ({"status": "pending"}, 2), ({"status": "pending"}, 1)])
@pytest.mark.django_db
def test_a_full_page_has_a_cursor_if_a_reservation_comes_after_the_count(
    api: Client, venue: Venue, monkeypatch: pytest.MonkeyPatch, params: dict[str, str], page: int
) -> None:
    for number in range(2 * page):
        reserve(venue, str(number))
    get_total = RecordCounts.get_total

    def get_total_and_reserve(*args: Any, **options: Any) -> int:
        total = get_total(*args, **options)
        reserve(venue, "late")
        return total

    with monkeypatch.context() as patch:
        patch.setattr(RecordCounts, "get_total", get_total_and_reserve)
        _, position = ask(api, **params, limit="2", page=str(page))
    assert (position["total"], position["has_more"]) == (2 * page + 1, True)
    assert ask(api, **params, limit="2", cursor=position["next_cursor"])[0] == ["late"]


@VERSIONS
@pytest.mark.django_db
def test_who_follows_changes_gets_the_oldest_first_and_misses_none(api: Client, venue: Venue, path: str) -> None:
    reserve(venue, "before", now=NOON - SECOND)
    first, second, third = (
        reserve(venue, name, NOON - number * timedelta(days=1), now=NOON + number * SECOND)
        for number, name in enumerate(("first", "second", "third"))
    )
    start = NOON + timedelta(hours=1)
    with time_machine.travel(start, tick=False) as clock:
        api = builders.client(venue)
        # As without cursors: the soonest first, in pages.
        names, position = ask(api, path, **SINCE, limit="2")
        assert (names, position["total"]) == (["third", "second"], 3)
        names, position = ask(api, path, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (names, position["has_more"]) == (["first", "second"], True)
        confirm(first, now=start)
        names, position = ask(api, path, **SINCE, limit="2", cursor=position["next_cursor"])
        assert (names, position["has_more"]) == (["third", "first"], False)
        # A task that began almost three minutes ago is committed only now.
        confirm(third, now=start - COMMIT_LAG + SECOND)
        names, position = ask(api, path, **SINCE, limit="9", cursor=position["next_cursor"])
        assert (names, position["has_more"]) == (["third", "first"], False)
        confirm(second, now=start)
        clock.shift(COMMIT_LAG)
        names, position = ask(api, path, **SINCE, limit="9", cursor=position["next_cursor"])
        assert names == ["third", "first", "second"]
        clock.shift(SECOND)
        for expected in (["first", "second"], []):
            names, position = ask(api, path, **SINCE, limit="9", cursor=position["next_cursor"])
            assert names == expected
            clock.shift(COMMIT_LAG)


@pytest.mark.django_db
def test_changed_reservations_by_number_cost_two_queries(api: Client, venue: Venue) -> None:
    for number in range(5):
        reserve(venue, str(number), now=NOON + number * SECOND)
    with costing(2):
        names, position = ask(api, updated_since="2026-11-21T12:00:03Z")
    assert (names, position["total"]) == (["3", "4"], 2)
