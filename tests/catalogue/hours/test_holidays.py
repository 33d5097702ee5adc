"""Public holidays: which days a market keeps, and what opening hours make of them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from catalogue import reference_data
from catalogue.hours import Hours, holidays, open_intervals, read_osm
from catalogue.models import Holiday, Market, Restaurant, SearchRow, Version
from catalogue.tasks import add_holidays
from tests.catalogue import builders

# A Saturday.
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TODAY = date(2026, 11, 21)
CHRISTMAS = date(2026, 12, 25)
BOXING_DAY = date(2026, 12, 26)


def read(text: str, *holidays: date) -> Hours:
    return read_osm(text, timezone="Europe/Copenhagen", on=TODAY, holidays=frozenset(holidays))


def special(hours: Hours) -> dict[str, tuple[tuple[int, int], ...]]:
    return {f"{day.date:%m-%d}": day.periods for day in hours.special_days}


def place(text: str, *holidays: date, slug: str = "noma", **columns: Any) -> Restaurant:
    return builders.restaurant(slug=slug, hours=read(text, *holidays).to_json(), **columns)


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_every_market_has_the_holidays_of_this_year_and_the_next_two() -> None:
    reference_data.load_reference_data()
    Holiday.objects.all().delete()

    added = holidays.add_missing_holidays(now=NOW)

    for market in Market.objects.all():
        days = [day.date for day in market.holidays.all()]
        assert {day.year for day in days} == {2026, 2027, 2028}, market
        assert 27 <= len(days) <= 65, market
        assert date(2027, 1, 1) in days, market
    assert added == Holiday.objects.count()
    assert holidays.add_missing_holidays(now=NOW) == 0


@pytest.mark.sample(3)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("market", "day", "name"),
    [
        ("london", date(2026, 8, 31), "Late Summer Bank Holiday"),
        ("paris", date(2026, 7, 14), "National Day"),
        ("berlin", date(2026, 3, 8), "Women's Day"),
        ("copenhagen", date(2026, 12, 26), "Second Day of Christmas"),
        ("milan", date(2026, 12, 7), "Saint Ambrose's Day"),
        ("barcelona", date(2026, 9, 11), "National Day of Catalonia"),
        ("new-york", date(2026, 11, 26), "Thanksgiving Day"),
        ("san-francisco", date(2026, 3, 31), "Cesar Chavez Day"),
        ("tokyo", date(2026, 7, 20), "Marine Day"),
        ("singapore", date(2026, 8, 9), "National Day"),
        ("sydney", date(2026, 4, 25), "ANZAC Day"),
        ("dubai", date(2026, 12, 2), "National Day"),
    ],
)
def test_holidays_are_those_of_the_city_and_named_in_english(market: str, day: date, name: str) -> None:
    reference_data.load_dictionaries()

    holidays.add_missing_holidays(now=NOW)

    assert Holiday.objects.get(market=market, date=day).name == name


@pytest.mark.django_db
def test_a_struck_holiday_stays_struck_and_a_renamed_one_keeps_its_name() -> None:
    market = builders.market()
    builders.holiday(market, CHRISTMAS, "Juledag", is_struck=True)
    builders.holiday(market, BOXING_DAY, "2. juledag")

    holidays.add_missing_holidays(now=NOW)

    assert list(
        market.holidays.filter(date__in=(CHRISTMAS, BOXING_DAY)).order_by("date").values_list("name", "is_struck")
    ) == [("Juledag", True), ("2. juledag", False)]
    assert CHRISTMAS not in holidays.holidays_by_market(first=TODAY, last=date(2027, 1, 31))["copenhagen"]


@pytest.mark.django_db
def test_a_market_that_staff_add_has_the_holidays_of_its_country_and_region() -> None:
    market = builders.market("munich", country="DE", region="BY")

    assert holidays.add_missing_holidays(now=NOW) == 36
    assert market.holidays.get(date=date(2027, 1, 6)).name == "Epiphany"


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_region_that_the_calendars_lack_has_the_holidays_of_the_country() -> None:
    builders.market("munich", country="DE", region="XX")

    assert holidays.add_missing_holidays(now=NOW) == 27


@pytest.mark.django_db
def test_a_market_in_a_country_without_a_calendar_has_only_the_holidays_that_staff_enter() -> None:
    market = builders.market("atlantis", country="XA")
    builders.holiday(market, CHRISTMAS)

    assert holidays.add_missing_holidays(now=NOW) == 0
    assert list(market.holidays.values_list("date", flat=True)) == [CHRISTMAS]


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_the_nightly_task_adds_them() -> None:
    market = builders.market()

    add_holidays(an_argument_of_tomorrow=1)

    assert market.holidays.exists()


@pytest.mark.django_db(transaction=True)
def test_two_that_add_at_once_add_each_day_once() -> None:
    for market in ("copenhagen", "berlin", "tokyo"):
        builders.market(market)
    start = Barrier(2)

    def add() -> int:
        try:
            start.wait()
            return holidays.add_missing_holidays(now=NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        added = [each.result() for each in [threads.submit(add), threads.submit(add)]]

    assert sum(added) == Holiday.objects.count()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mo-Sa 11:30-21:00; PH off", {"12-25": (), "12-26": ()}),
        ("Mo-Sa 11:30-21:00, PH off", {"12-25": (), "12-26": ()}),
        ("Mo-Su 10:00-20:00; PH 12:00-18:00", {"12-25": ((720, 1080),), "12-26": ((720, 1080),)}),
        ("Mo-Sa 10:00-22:00; PH,Su off", {"12-25": (), "12-26": ()}),
        ("Mo-Fr,PH 10:00-20:00", {"12-26": ((600, 1200),)}),
        ("Mo-Fr,PH 10:00-20:00; Sa 12:00-14:00", {"12-26": ((600, 1200),)}),
        ("PH,Mo-Su 10:00-22:00", {}),
        ("24/7; PH off", {"12-25": (), "12-26": ()}),
        ("24/7; PH closed", {"12-25": (), "12-26": ()}),
        ("Mo-Su 10:00-20:00; PH Sa off", {"12-26": ()}),
        ("Mo-Su 10:00-20:00; Dec PH off", {"12-25": (), "12-26": ()}),
        ("Mo-Su 10:00-20:00; Jul-Aug PH off", {}),
        ("Mo-Su 18:00-22:00; PH 18:00-03:00", {"12-25": ((1080, 1620),), "12-26": ((1080, 1620),)}),
        ("PH off; Mo-Su 10:00-20:00", {"12-25": (), "12-26": ()}),
        ("Mo-Su 10:00-20:00; PH off; Dec 25 12:00-15:00", {"12-25": ((720, 900),), "12-26": ()}),
        (
            "Mo-Su 10:00-20:00; PH 10:00-12:00,16:00-18:00",
            {"12-25": ((600, 720), (960, 1080)), "12-26": ((600, 720), (960, 1080))},
        ),
        ("Mo-Su 10:00-20:00", {}),
    ],
)
def test_holiday_rules_become_special_days(text: str, expected: dict[str, Any]) -> None:
    assert special(read(text, CHRISTMAS, BOXING_DAY)) == expected


def test_who_says_nothing_of_holidays_keeps_the_week_on_them() -> None:
    assert read("Mo-Su 10:00-20:00", CHRISTMAS) == read("Mo-Su 10:00-20:00")


def test_holidays_out_of_sight_change_nothing() -> None:
    assert read("Mo-Su 10:00-20:00; PH off", date(2027, 4, 1)).special_days == ()


@pytest.mark.parametrize("text", ["PH off", "PH 10:00-18:00", "SH 10:00-18:00", "PH,SH 10:00-18:00"])
def test_hours_that_speak_of_holidays_alone_are_unknown(text: str) -> None:
    hours = read(text, CHRISTMAS)

    assert (hours.known, hours.special_days, hours.osm) == (False, (), text)
    assert hours.notes[0] == "It never says when the place is open."


def test_school_holidays_are_left_out_and_the_hours_say_so() -> None:
    hours = read("Mo-Fr,SH 10:00-20:00; SH Sa 10:00-12:00; PH,SH off", CHRISTMAS)

    assert special(hours) == {"12-25": ()}
    assert hours.to_json()["notes"] == [
        '"SH" is ignored: the dates are not known.',
        '"SH Sa" is ignored: the dates are not known.',
        '"SH" is ignored: the dates are not known.',
    ]
    assert Hours.from_json(hours.to_json()).notes == hours.notes


@pytest.mark.django_db
def test_a_holiday_that_staff_add_closes_who_keeps_it_and_the_record_shows_it() -> None:
    keeps, ignores = place("Mo-Su 10:00-20:00; PH off"), place("Mo-Su 10:00-20:00", slug="works")
    open_intervals.refresh_open_intervals(now=NOW)
    market = builders.market()
    with transaction.atomic():
        builders.holiday(market, date(2026, 11, 23), "Tablewire's day")
        assert holidays.mark_hours_outdated(market.slug) == 1

    assert (
        open_intervals.refresh_open_intervals(now=NOW) == 2
    )  # the second is the record's special day, stored and worked out again
    keeps.refresh_from_db()
    assert keeps.hours is not None
    assert keeps.hours["special_days"] == [{"date": "2026-11-23", "periods": []}]
    noon = datetime(2026, 11, 23, 11, tzinfo=UTC)
    open_then = {
        row.restaurant_id: any(opens <= noon < closes for opens, closes in row.open_intervals or [])
        for row in SearchRow.objects.all()
    }
    assert open_then == {keeps.pk: False, ignores.pk: True}


@pytest.mark.django_db
def test_deleted_holiday_opens_restaurants_that_close_on_holidays() -> None:
    market = builders.market()
    day = builders.holiday(market, date(2026, 11, 23))
    keeps = place("Mo-Su 10:00-20:00; PH off", day.date)
    open_intervals.refresh_open_intervals(now=NOW)
    Holiday.objects.filter(pk=day.pk).update(is_struck=True)
    holidays.mark_hours_outdated(market.slug)

    open_intervals.refresh_open_intervals(now=NOW)

    keeps.refresh_from_db()
    assert keeps.hours is not None
    assert keeps.hours["special_days"] == []
    row = SearchRow.objects.get(restaurant=keeps)
    assert (datetime(2026, 11, 23, 9, tzinfo=UTC), datetime(2026, 11, 23, 19, tzinfo=UTC)) in (
        row.open_intervals or []
    )


@pytest.mark.django_db
def test_a_holiday_of_another_market_changes_nothing() -> None:
    keeps = place("Mo-Su 10:00-20:00; PH off")
    open_intervals.refresh_open_intervals(now=NOW)
    builders.holiday(builders.market("berlin"), date(2026, 11, 23))

    assert holidays.mark_hours_outdated("berlin") == 0
    assert open_intervals.refresh_open_intervals(now=NOW + timedelta(days=1)) == 1
    keeps.refresh_from_db()
    assert keeps.hours is not None
    assert keeps.hours["special_days"] == []


@pytest.mark.django_db(transaction=True)
def test_a_holiday_that_is_changed_while_spans_are_worked_out_is_not_missed() -> None:
    """The worker has read the holidays and not stored anything yet; staff strike one."""
    market = builders.market()
    day = builders.holiday(market, date(2026, 11, 23))
    keeps = place("Mo-Su 10:00-20:00; PH off", day.date)
    has_read, may_store = Event(), Event()

    def strike() -> None:
        try:
            has_read.wait(10)
            with transaction.atomic():
                Holiday.objects.filter(pk=day.pk).update(is_struck=True)
                may_store.set()
                holidays.mark_hours_outdated(market.slug)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        struck = thread.submit(strike)
        with transaction.atomic():
            open_intervals.refresh_open_intervals(now=NOW)
            has_read.set()
            assert may_store.wait(10)
        struck.result()
    assert SearchRow.objects.get(restaurant=keeps).intervals_until is None
    open_intervals.refresh_open_intervals(now=NOW)
    row = SearchRow.objects.get(restaurant=keeps)
    assert (datetime(2026, 11, 23, 9, tzinfo=UTC), datetime(2026, 11, 23, 19, tzinfo=UTC)) in (
        row.open_intervals or []
    )


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_a_place_that_is_special_every_day_gets_a_version_a_month_and_not_a_day() -> None:
    season = place("Sep 1-May 31 11:00-17:00")
    for passed in range(90):
        open_intervals.refresh_open_intervals(now=NOW + timedelta(days=passed))
        season.refresh_from_db()
        assert season.hours is not None
        today = TODAY + timedelta(days=passed)
        shown = {day["date"] for day in season.hours["special_days"]}
        assert {str(today + timedelta(days=ahead)) for ahead in range(30)} <= shown
    assert Version.objects.filter(restaurant=season).count() == 3


@pytest.mark.django_db
def test_the_hours_of_some_days_name_their_holidays(client: Client) -> None:
    market = builders.market()
    builders.holiday(market, CHRISTMAS, "Christmas Day")
    builders.holiday(market, date(2027, 1, 1), "New Year's Day")
    builders.holiday(market, BOXING_DAY, "Second Day of Christmas", is_struck=True)
    builders.holiday(builders.market("berlin"), date(2026, 12, 27), "A day of theirs")
    place("Mo-Su 18:00-22:00; PH 18:00-02:00; Dec 24 off; Jan 1 18:00-22:00")

    answer = client.get("/v1/restaurants/noma/hours?from=2026-12-24&to=2027-01-02").json()

    assert answer["special_days"] == [
        {"date": "2026-12-24", "name": None, "periods": []},
        {"date": "2026-12-25", "name": "Christmas Day", "periods": [{"open": "18:00", "close": "02:00"}]},
    ]
    assert answer["holidays"] == [
        {"date": "2026-12-25", "name": "Christmas Day"},
        {"date": "2027-01-01", "name": "New Year's Day"},
    ]
    assert answer["spans"][:2] == [
        {"opens_at": "2026-12-25T18:00:00+01:00", "closes_at": "2026-12-26T02:00:00+01:00"},
        {"opens_at": "2026-12-26T18:00:00+01:00", "closes_at": "2026-12-26T22:00:00+01:00"},
    ]


@pytest.mark.django_db
def test_the_tail_of_a_holiday_reaches_into_the_first_day_that_is_asked_for(client: Client) -> None:
    builders.holiday(builders.market(), CHRISTMAS, "Christmas Day")
    place("Mo-Su 18:00-22:00; PH 18:00-02:00")

    answer = client.get("/v1/restaurants/noma/hours?from=2026-12-26&to=2026-12-26").json()

    assert answer["spans"][0] == {"opens_at": "2026-12-26T00:00:00+01:00", "closes_at": "2026-12-26T02:00:00+01:00"}
    assert answer["special_days"] == answer["holidays"] == []
