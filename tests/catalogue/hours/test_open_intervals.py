"""Open spans: what is written for a restaurant, when it is written again, and by how many workers at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction

from catalogue import reference_data
from catalogue.hours import open_intervals, read_osm
from catalogue.models import Restaurant, SearchRow
from catalogue.models.postgres_fields import Span
from catalogue.search import INTERVALS_AHEAD
from catalogue.tasks import refresh_open_intervals

# A Saturday in Copenhagen, an hour ahead of UTC.
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TODAY = date(2026, 11, 21)
DAY = timedelta(days=1)


@pytest.fixture
def _markets(db: None) -> None:
    reference_data.load_dictionaries()


pytestmark = pytest.mark.usefixtures("_markets")


def hours(text: str, *, on: date = TODAY) -> dict[str, Any]:
    return read_osm(text, timezone="Europe/Copenhagen", on=on).to_json()


def restaurant(slug: str = "noma", **columns: Any) -> Restaurant:
    return Restaurant.objects.create(
        slug=slug, name=slug, market_id="copenhagen", country="DK", created_at=NOW, updated_at=NOW, **columns
    )


def hours_of(place: Restaurant) -> dict[str, Any]:
    place.refresh_from_db()
    assert place.hours is not None
    return dict(place.hours)


def utc(day: int, hour: int, *, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def spans(place: Restaurant) -> list[Span] | None:
    return row(place).open_intervals


def row(place: Restaurant) -> SearchRow:
    return SearchRow.objects.get(restaurant=place)


@pytest.mark.exhaustive
def test_open_intervals_reach_from_yesterday_to_fifteen_days_ahead() -> None:
    place = restaurant(hours=hours("Fr-Sa 18:00-02:00"))
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    assert spans(place) == [
        (utc(20, 17), utc(21, 1)),
        (utc(21, 17), utc(22, 1)),
        (utc(27, 17), utc(28, 1)),
        (utc(28, 17), utc(29, 1)),
        (utc(4, 17, month=12), utc(5, 1, month=12)),
        (utc(5, 17, month=12), utc(6, 1, month=12)),
    ]
    assert row(place).intervals_until == NOW + 15 * DAY


@pytest.mark.exhaustive
def test_a_span_that_lasts_over_the_end_is_cut_there() -> None:
    place = restaurant(hours=hours("24/7"))
    open_intervals.refresh_open_intervals(now=NOW)
    assert spans(place) == [(NOW - DAY, NOW + 15 * DAY)]


@pytest.mark.exhaustive
def test_closure_outranks_hours() -> None:
    place = restaurant(hours=hours("24/7"), status="temporarily_closed")
    open_intervals.refresh_open_intervals(now=NOW)
    assert spans(place) == []
    assert row(place).intervals_until == NOW + 15 * DAY


@pytest.mark.exhaustive
@pytest.mark.parametrize("stated", [None, "by appointment", "Mo-Fr"])
def test_unknown_hours_are_not_closed_hours_and_are_not_tried_again(stated: str | None) -> None:
    place = restaurant(hours=hours(stated) if stated else None)
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    assert spans(place) is None
    assert open_intervals.refresh_open_intervals(now=NOW) == 0


@pytest.mark.exhaustive
def test_known_hours_that_are_never_open_are_closed() -> None:
    place = restaurant(hours=hours("Mo-Su off"))
    open_intervals.refresh_open_intervals(now=NOW)
    assert spans(place) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("broken", [[], "24/7", {"timezone": "Mars/Olympus"}, {"periods": 7}])
def test_broken_hours_are_unknown_and_do_not_stop_the_others(broken: object) -> None:
    bad = restaurant(hours=broken)
    good = restaurant("geranium", hours=hours("24/7"))
    assert open_intervals.refresh_open_intervals(now=NOW) == 2
    assert spans(bad) is None
    assert spans(good) == [(NOW - DAY, NOW + 15 * DAY)]


@pytest.mark.exhaustive
def test_a_restaurant_is_worked_out_about_once_a_day() -> None:
    restaurant(hours=hours("24/7"))
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    assert open_intervals.refresh_open_intervals(now=NOW + timedelta(hours=22)) == 0
    assert open_intervals.refresh_open_intervals(now=NOW + timedelta(hours=22, seconds=1)) == 1


@pytest.mark.exhaustive
def test_spans_that_are_worked_out_again_touch_no_index() -> None:
    restaurant(hours=hours("24/7"))
    open_intervals.refresh_open_intervals(now=NOW)

    def updates() -> tuple[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_stat_get_xact_tuples_updated(oid), pg_stat_get_xact_tuples_hot_updated(oid)"
                " FROM pg_class WHERE relname = 'catalogue_searchrow'"
            )
            (all_of_them, without_indexes) = cursor.fetchone()
            return all_of_them, without_indexes

    before = updates()
    assert open_intervals.refresh_open_intervals(now=NOW + DAY) == 1
    assert updates() == (before[0] + 1, before[1] + 1)


def test_what_is_missing_is_found_by_its_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "search_without_intervals" in SearchRow.objects.filter(intervals_missing=True).explain()


@pytest.mark.exhaustive
def test_an_hourly_worker_that_misses_an_hour_keeps_the_promised_days() -> None:
    place = restaurant(hours=hours("24/7"))
    for hour in range(72):
        now = NOW + timedelta(hours=hour)
        if hour % 12 != 11:
            open_intervals.refresh_open_intervals(now=now)
        until = row(place).intervals_until
        assert until is not None
        assert until > now + INTERVALS_AHEAD


@pytest.mark.exhaustive
def test_who_changes_hours_gets_them_worked_out_again() -> None:
    place = restaurant(hours=hours("24/7"))
    open_intervals.refresh_open_intervals(now=NOW)
    Restaurant.objects.filter(pk=place.pk).update(hours=hours("Sa 12:00-14:00"))
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    assert spans(place) == [
        (utc(21, 11), utc(21, 13)),
        (utc(28, 11), utc(28, 13)),
        (utc(5, 11, month=12), utc(5, 13, month=12)),
    ]


@pytest.mark.exhaustive
def test_dated_hours_are_read_again_as_time_passes() -> None:
    place = restaurant(hours=hours("24/7; Dec 24 off", on=date(2026, 9, 1)))
    assert hours_of(place)["special_days"] == []
    open_intervals.refresh_open_intervals(now=datetime(2026, 12, 20, 12, tzinfo=UTC))
    assert spans(place) == [
        (utc(19, 12, month=12), utc(23, 23, month=12)),
        (utc(24, 23, month=12), datetime(2027, 1, 4, 12, tzinfo=UTC)),
    ]
    assert hours_of(place)["special_days"] == [{"date": "2026-12-24", "periods": []}]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "edit",
    [
        {"special_days": [{"date": "2026-12-23", "periods": []}]},
        {"periods": [{"open": {"day": 0, "time": "10:00"}, "close": {"day": 0, "time": "11:00"}}]},
    ],
)
def test_edited_hours_are_not_parsed_again(edit: dict[str, Any]) -> None:
    edited = hours("24/7; Dec 24 off", on=date(2026, 9, 1)) | edit
    place = restaurant(hours=edited, locked_fields=["hours"])
    open_intervals.refresh_open_intervals(now=datetime(2026, 12, 20, 12, tzinfo=UTC))
    place.refresh_from_db()
    assert place.hours == edited


@pytest.mark.exhaustive
def test_a_slice_leaves_the_rest_for_the_next() -> None:
    for number in range(5):
        restaurant(f"noma-{number}", hours=hours("24/7"))
    assert [open_intervals.refresh_open_intervals(now=NOW, batch=2, at_most=3) for _ in range(3)] == [3, 2, 0]


def lying() -> list[str]:
    """The restaurants in the order in which their search rows lie on the disk."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT restaurant_id::text FROM catalogue_searchrow ORDER BY ctid")
        return [key for (key,) in cursor.fetchall()]


@pytest.mark.exhaustive
def test_neighbours_on_the_disk_stay_neighbours_when_their_spans_are_worked_out() -> None:
    for number in range(60):
        restaurant(f"noma-{number}", hours=hours("24/7"))
    with connection.cursor() as cursor:
        for name in sorted(range(60), key=lambda number: number * 37 % 60):
            cursor.execute(
                "UPDATE catalogue_searchrow AS row SET name = row.name FROM catalogue_restaurant AS place"
                " WHERE place.id = row.restaurant_id AND place.slug = %s",
                [f"noma-{name}"],
            )
        # As over millions of rows of which few are due.
        cursor.execute("SET LOCAL enable_seqscan = off")
    before = lying()
    assert before != sorted(before)
    open_intervals.refresh_open_intervals(now=NOW, batch=20)
    assert lying() == before


@pytest.mark.exhaustive
def test_the_task_works_out_what_is_due() -> None:
    place = restaurant(hours=hours("24/7"))
    refresh_open_intervals(an_argument_of_tomorrow=1)
    assert spans(place) is not None


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_row_that_another_worker_holds_is_passed_over() -> None:
    held, _ = restaurant("held"), restaurant("free")

    def refresh() -> int:
        try:
            return open_intervals.refresh_open_intervals(now=NOW)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        SearchRow.objects.select_for_update(of=("self",)).get(restaurant=held)
        assert thread.submit(refresh).result() == 1
    assert open_intervals.refresh_open_intervals(now=NOW) == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_workers_share_the_rows_and_do_none_twice() -> None:
    for number in range(200):
        restaurant(f"noma-{number}")
    start = Barrier(2)

    def refresh() -> int:
        try:
            start.wait()
            return open_intervals.refresh_open_intervals(now=NOW, batch=10)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        done = [each.result() for each in [threads.submit(refresh), threads.submit(refresh)]]
    # Who finds the last rows claimed leaves them to who claimed them.
    assert sum(done) == 200
    assert not SearchRow.objects.filter(intervals_until=None).exists()


def test_spans_of_a_clock_that_was_ahead_are_computed_again_when_it_is_right() -> None:
    place = restaurant(hours=hours("Mo-Su 17:00-22:00"))
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    before = row(place)
    assert open_intervals.refresh_open_intervals(now=NOW + 40 * DAY) == 1
    assert open_intervals.refresh_open_intervals(now=NOW) == 1
    assert (spans(place), row(place).intervals_until) == (before.open_intervals, before.intervals_until)
    # Clocks of two machines differ, and each of them has computed the present day.
    assert open_intervals.refresh_open_intervals(now=NOW - DAY) == 0
