"""Opening hours as callers get them: the spans of given days, and closures, which outrank hours everywhere."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue.hours import ALWAYS, Hours, InvalidHoursError, date_range, open_intervals, read_osm
from catalogue.models import FormerSlug, Market, Restaurant, SearchRow
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.catalogue.hours.test_schedule import MARKET_ZONES, clock_changes, hours_of, scan

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock() -> Iterator[None]:
    """The clock stands at NOW."""
    with time_machine.travel(NOW, tick=False):
        yield


def get(client: Client, path: str) -> Any:
    return client.get(f"/v1/restaurants{path}").json()


def found_open(client: Client) -> list[str]:
    return [hit["slug"] for hit in get(client, "?open=now")["data"]]


def set_status(place: Restaurant, status: str) -> None:
    Restaurant.objects.filter(pk=place.pk).update(status=status, updated_at=NOW)


def is_open_everywhere(client: Client, place: Restaurant) -> set[bool]:
    """What each place that tells it says; nothing but one answer is right."""
    hours = get(client, f"/{place.slug}")["hours"]
    spans = get(client, f"/{place.slug}/hours?to=2026-11-21")["spans"]
    return {place.slug in found_open(client), hours["open_now"], hours["state"] == "open", bool(spans)}


@pytest.mark.parametrize("status", ["temporarily_closed", "permanently_closed", "moved"])
def test_a_closed_place_is_open_nowhere_from_the_moment_it_is_closed(client: Client, status: str) -> None:
    place = builders.restaurant(slug="always", hours=Hours("Europe/Copenhagen", ALWAYS, ()).to_json())
    open_intervals.refresh_open_intervals(now=NOW)
    assert is_open_everywhere(client, place) == {True}

    set_status(place, status)

    # Before the worker comes, and after.
    assert is_open_everywhere(client, place) == {False}
    open_intervals.refresh_open_intervals(now=NOW)
    assert is_open_everywhere(client, place) == {False}
    hours = get(client, "/always")["hours"]
    assert (hours["state"], hours["next_change"]) == ("closed", None)
    row = SearchRow.objects.filter(restaurant=place).first()
    assert (row and row.open_intervals) == ([] if status == "temporarily_closed" else None)


@pytest.mark.parametrize("status", ["temporarily_closed", "permanently_closed", "moved"])
def test_a_place_that_opens_again_is_open_everywhere(client: Client, status: str) -> None:
    place = builders.restaurant(slug="always", hours=Hours("Europe/Copenhagen", ALWAYS, ()).to_json(), status=status)
    open_intervals.refresh_open_intervals(now=NOW)

    set_status(place, "open")
    open_intervals.refresh_open_intervals(now=NOW)

    assert is_open_everywhere(client, place) == {True}


@pytest.mark.parametrize("text", [None, '"by appointment"', "Mo-Fr"])
def test_closure_takes_precedence_over_unknown_hours(client: Client, text: str | None) -> None:
    stated = text and read_osm(text, timezone="Europe/Copenhagen", on=NOW.date()).to_json()
    builders.restaurant(slug="vague", hours=stated or None, status="temporarily_closed")
    builders.restaurant(slug="open", hours=stated or None)
    open_intervals.refresh_open_intervals(now=NOW)

    assert (get(client, "/vague")["hours"]["state"], get(client, "/vague/hours")["spans"]) == ("closed", [])
    assert (get(client, "/open")["hours"]["state"], get(client, "/open/hours")["spans"]) == ("unknown", None)
    assert found_open(client) == []


def test_hours_of_some_days_are_free_to_ask_for_again(client: Client) -> None:
    builders.restaurant(slug="dinner", hours=builders.week("17:30", "23:00"))
    first = client.get("/v1/restaurants/dinner/hours")

    again = client.get("/v1/restaurants/dinner/hours", headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert first["Cache-Control"] == "public, max-age=60, stale-while-revalidate=300"
    Restaurant.objects.update(hours=builders.week("17:00", "23:00"))
    assert client.get("/v1/restaurants/dinner/hours", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_hours_are_asked_for_by_a_former_slug_and_those_of_an_erased_place_are_gone(client: Client) -> None:
    place = builders.restaurant(slug="old", hours=builders.week("17:30", "23:00"))
    Restaurant.objects.filter(pk=place.pk).update(slug="new", updated_at=NOW)
    assert FormerSlug.objects.filter(slug="old").exists()

    moved = client.get("/v1/restaurants/old/hours?to=2026-11-22")

    assert (moved.status_code, moved["Location"]) == (308, "/v1/restaurants/new/hours?to=2026-11-22")
    Restaurant.objects.filter(pk=place.pk).update(erased_at=NOW)
    gone = client.get("/v1/restaurants/new/hours")
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "gone")


@pytest.mark.sample(3)
@pytest.mark.parametrize("timezone", MARKET_ZONES)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_the_hours_of_a_day_are_what_a_minute_scan_finds(timezone: str, data: st.DataObject) -> None:
    day = data.draw(st.sampled_from(clock_changes(timezone)))
    hours = data.draw(hours_of(timezone=timezone, around=day))
    zone = ZoneInfo(timezone)
    start = datetime.combine(day, datetime.min.time(), zone).astimezone(UTC)
    end = datetime.combine(day + timedelta(days=1), datetime.min.time(), zone).astimezone(UTC)
    with transaction.atomic():
        market = builders.market("a-market", timezone=timezone)
        Market.objects.filter(pk=market.pk).update(timezone=timezone)
        place = builders.restaurant(market=market, hours=hours.to_json())
        noon = datetime.combine(day, datetime.min.time(), UTC)

        found = date_range.list_hours(place.slug, first=day, last=day, now=noon)

        if not hours.periods and not hours.covers_date(day):
            assert found.spans is None
        else:
            assert [
                (span["opens_at"].astimezone(UTC), span["closes_at"].astimezone(UTC)) for span in found.spans or []
            ] == [
                (max(opens, start), min(closes, end))
                for opens, closes in scan(hours, day)
                if opens < end and closes > start
            ]
        transaction.set_rollback(True)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_due", [True, False])
def test_hours_that_change_while_they_are_worked_out_are_not_missed(is_due: bool) -> None:
    """The worker has read the hours and not committed the spans yet; somebody changes them."""
    place = builders.restaurant(hours=builders.week("11:00", "15:00"))
    now = NOW
    if not is_due:
        open_intervals.refresh_open_intervals(now=NOW)
        now = NOW + timedelta(days=1)
    has_read, tries = Event(), Event()

    def change() -> None:
        try:
            has_read.wait(10)
            tries.set()
            Restaurant.objects.filter(pk=place.pk).update(hours=builders.week("17:00", "23:00"), updated_at=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        changed = thread.submit(change)
        with transaction.atomic():
            assert open_intervals.refresh_open_intervals(now=now) == 1
            has_read.set()
            assert tries.wait(10)
        changed.result()

    assert SearchRow.objects.get(restaurant=place).intervals_until is None
    assert open_intervals.refresh_open_intervals(now=now) == 1
    spans = SearchRow.objects.get(restaurant=place).open_intervals
    assert spans is not None
    assert {opens.hour for opens, _ in spans} <= {16, now.hour}


def test_hours_that_were_not_changed_make_no_version() -> None:
    place = builders.restaurant(hours=builders.week("11:00", "15:00"))
    for passed in range(5):
        open_intervals.refresh_open_intervals(now=NOW + timedelta(days=passed))

    assert place.versions.count() == 1


def test_hours_keep_what_could_not_be_read_and_refuse_what_is_no_text() -> None:
    assert Hours.from_json({"timezone": "UTC", "osm": "x", "notes": ["Why."]}).to_json()["notes"] == ["Why."]
    for wrong, message in [("Why.", "notes: a list is expected."), ([7], r"notes\[0\]: a text is expected.")]:
        with pytest.raises(InvalidHoursError, match=message):
            Hours.from_json({"timezone": "UTC", "notes": wrong})


def test_locked_hours_that_equal_their_text_follow_its_holidays_on_later_days_too(client: Client) -> None:
    """Whether they equal it is decided by the holidays of today, whatever days are asked for."""
    text = "Mo-Su 10:00-20:00; PH off"
    days = [date(2026, 12, 25), date(2027, 5, 6)]
    hours = read_osm(text, timezone="Europe/Copenhagen", on=NOW.date(), holidays=frozenset(days)).to_json()
    place = builders.restaurant(slug="locked", hours=hours, locked_fields=["hours"])
    for day in days:
        builders.holiday(place.market, day)
    open_intervals.refresh_open_intervals(now=NOW)
    for day in days:
        assert get(client, f"/locked/hours?from={day}&to={day}")["spans"] == []
        assert get(client, f"?open={day}T12:00:00%2B01:00")["data"] == []
