"""The `hours` of a record: JSON in and out, and the lines for people."""

import json
from datetime import date
from typing import Any

import pytest

from catalogue.hours import ALWAYS, Hours, InvalidHoursError, Moment, Period, SpecialDay

BISTRO = Hours(
    "Europe/Copenhagen",
    periods=(
        Period(Moment(3, 720), Moment(3, 1320)),
        Period(Moment(4, 1080), Moment(5, 120)),
        Period(Moment(6, 1080), Moment(0, 0), kind="open_end"),
    ),
    special_days=(SpecialDay(date(2026, 12, 24), ()), SpecialDay(date(2026, 12, 31), ((600, 840), (1080, 1560)))),
    osm="Th 12:00-22:00; Fr 18:00-02:00; Su 18:00+",
)
WRITTEN = {
    "timezone": "Europe/Copenhagen",
    "known": True,
    "periods": [
        {"kind": "regular", "open": {"day": 3, "time": "12:00"}, "close": {"day": 3, "time": "22:00"}},
        {"kind": "regular", "open": {"day": 4, "time": "18:00"}, "close": {"day": 5, "time": "02:00"}},
        {"kind": "open_end", "open": {"day": 6, "time": "18:00"}, "close": {"day": 0, "time": "00:00"}},
    ],
    "special_days": [
        {"date": "2026-12-24", "periods": []},
        {"date": "2026-12-31", "periods": [{"open": "10:00", "close": "14:00"}, {"open": "18:00", "close": "02:00"}]},
    ],
    "display": ["Mon-Wed closed", "Thu 12:00-22:00", "Fri 18:00-02:00", "Sat closed", "Sun 18:00-24:00 or later"],
    "osm": "Th 12:00-22:00; Fr 18:00-02:00; Su 18:00+",
}
OPEN = {"day": 0, "time": "10:00"}


def test_hours_are_written_as_the_record_shows_them() -> None:
    assert BISTRO.to_json() == WRITTEN


@pytest.mark.parametrize(
    "hours", [BISTRO, Hours("Asia/Tokyo", ALWAYS, ()), Hours("UTC", (), ()), Hours("UTC", (), (), "x", known=False)]
)
def test_written_hours_are_read_back_the_same(hours: Hours) -> None:
    assert Hours.from_json(json.loads(json.dumps(hours.to_json()))) == hours


def test_what_a_record_computes_is_not_read() -> None:
    computed = {"display": ["nonsense"], "state": "open", "open_now": True, "next_change": None}

    assert Hours.from_json(WRITTEN | computed) == BISTRO


def test_hours_that_state_nothing_are_unknown() -> None:
    assert Hours.from_json({"timezone": "UTC"}) == Hours("UTC", (), (), known=False)


def test_twenty_four_oclock_is_read_as_the_midnight_that_follows() -> None:
    hours = Hours.from_json(
        {
            "timezone": "UTC",
            "periods": [{"open": {"day": 6, "time": "18:00"}, "close": {"day": 6, "time": "24:00"}}],
            "special_days": [{"date": "2026-12-24", "periods": [{"open": "00:00", "close": "24:00"}]}],
        }
    )

    assert hours.periods == (Period(Moment(6, 1080), Moment(0, 0)),)
    assert hours.special_days == (SpecialDay(date(2026, 12, 24), ((0, 1440),)),)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"timezone": None}, "timezone: a text is expected."),
        ({"timezone": "Europe/Nowhere"}, '"Europe/Nowhere" is not a time zone.'),
        ({"osm": 7}, "osm: a text is expected."),
        ({"known": "yes"}, "known: true or false is expected."),
        ({"periods": {}}, "periods: a list is expected."),
        ({"periods": ["Mo"]}, "periods[0]: an object is expected."),
        ({"periods": [{"open": OPEN}]}, "periods[0].close: an object is expected."),
        (
            {"periods": [{"open": OPEN, "close": {"day": 0, "time": "25:00"}}]},
            'periods[0].close.time: a time "HH:MM" is expected.',
        ),
        (
            {"periods": [{"open": {"day": 0, "time": "24:00"}, "close": OPEN}]},
            'periods[0].open.time: a time "HH:MM" is expected.',
        ),
        (
            {"periods": [{"open": {"day": 7, "time": "10:00"}, "close": OPEN}]},
            "periods[0].open.day: a number from 0 (Monday) to 6 is expected.",
        ),
        (
            {"periods": [{"open": {"day": True, "time": "10:00"}, "close": OPEN}]},
            "periods[0].open.day: a number from 0 (Monday) to 6 is expected.",
        ),
        (
            {"periods": [{"kind": "happy", "open": OPEN, "close": OPEN}]},
            'periods[0].kind: "happy" is not one of regular, open_end.',
        ),
        ({"special_days": [{"date": "24 Dec"}]}, 'special_days[0].date: "YYYY-MM-DD" is expected.'),
        ({"special_days": [{"date": 20261224}]}, "special_days[0].date: a text is expected."),
        (
            {"special_days": [{"date": "2026-12-24", "periods": [{"open": "10", "close": "12:00"}]}]},
            'special_days[0].periods[0].open: a time "HH:MM" is expected.',
        ),
        (
            {"special_days": [{"date": "2026-12-24"}, {"date": "2026-12-24"}]},
            "special_days: a date is given twice.",
        ),
    ],
)
def test_wrong_hours_are_refused_naming_the_part(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidHoursError) as refused:
        Hours.from_json({"timezone": "UTC"} | wrong)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("periods", "lines"),
    [
        ((), ["Every day closed"]),
        (ALWAYS, ["Every day open 24 hours"]),
        ((Period(Moment(0, 0), Moment(0, 0)),), ["Every day open 24 hours"]),
        (ALWAYS[:6], ["Mon-Sat open 24 hours", "Sun closed"]),
        (
            (Period(Moment(0, 1050), Moment(0, 1320)), Period(Moment(0, 690), Moment(0, 900))),
            ["Mon 11:30-15:00, 17:30-22:00", "Tue-Sun closed"],
        ),
        (
            (Period(Moment(4, 1080), Moment(6, 1200)),),
            ["Mon-Thu closed", "Fri 18:00-24:00", "Sat open 24 hours", "Sun 00:00-20:00"],
        ),
    ],
)
def test_equal_days_share_a_line(periods: tuple[Period, ...], lines: list[str]) -> None:
    assert Hours("UTC", periods, ()).display == lines


def test_hours_without_a_week_say_so() -> None:
    assert Hours("UTC", (), (SpecialDay(date(2026, 12, 24), ()),)).display == ["Varies by date"]
    assert Hours("UTC", (), (), known=False).display == []


@pytest.mark.parametrize("timezone", ["Mars/Olympus", "", "../etc", "Europe"])
def test_a_zone_that_does_not_exist_is_refused(timezone: str) -> None:
    with pytest.raises(InvalidHoursError, match="is not a time zone"):
        Hours(timezone, (), ())


def test_a_date_that_is_special_twice_is_refused() -> None:
    christmas = SpecialDay(date(2026, 12, 24), ())

    with pytest.raises(InvalidHoursError, match="a date is given twice"):
        Hours("Europe/Copenhagen", (), (christmas, christmas))


@pytest.mark.parametrize(("day", "minute"), [(7, 0), (-1, 0), (0, 1440), (0, -1)])
def test_a_moment_outside_the_week_is_refused(day: int, minute: int) -> None:
    with pytest.raises(InvalidHoursError, match="is not a moment of the week"):
        Moment(day, minute)


@pytest.mark.parametrize("span", [(-1, 60), (60, 60), (1440, 1441), (600, 600 + 1440 + 1)])
def test_a_special_period_that_is_not_of_one_day_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(InvalidHoursError, match="are not a period of one day"):
        SpecialDay(date(2026, 12, 24), (span,))
