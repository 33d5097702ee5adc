"""When a place is open, against a minute-by-minute reading of the clock on its wall."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue.hours import ALWAYS, Hours, Moment, OpenState, Period, SpecialDay

MARKET_ZONES = (
    "Europe/London",
    "Europe/Paris",
    "Europe/Berlin",
    "Europe/Copenhagen",
    "Europe/Rome",
    "Europe/Madrid",
    "America/New_York",
    "America/Los_Angeles",
    "Asia/Tokyo",
    "Asia/Singapore",
    "Australia/Sydney",
    "Asia/Dubai",
)
# Clocks that change at midnight, backwards into the day before (Beirut, Azores) or over a whole day's start.
MIDNIGHT_ZONES = ("Asia/Beirut", "Atlantic/Azores", "America/Havana", "Africa/Cairo")
MINUTE = timedelta(minutes=1)
DAY, WEEK = 1440, 10080
COPENHAGEN = ZoneInfo("Europe/Copenhagen")

minutes = st.one_of(st.integers(0, DAY - 1), st.sampled_from((0, 30, 59, 60, 90, 119, 120, 121, 150, 179, 180, 1439)))
lengths = st.one_of(st.integers(1, DAY), st.sampled_from((30, 60, 480, DAY)), st.integers(DAY + 1, WEEK))


@st.composite
def periods(draw: st.DrawFn) -> Period:
    opens = draw(st.integers(0, 6)) * DAY + draw(minutes)
    closes = (opens + draw(lengths)) % WEEK
    kind = draw(st.sampled_from(("regular", "open_end")))
    return Period(Moment(*divmod(opens, DAY)), Moment(*divmod(closes, DAY)), kind)


@st.composite
def special_days(draw: st.DrawFn, *, around: date) -> SpecialDay:
    opens = draw(st.lists(minutes, max_size=2))
    return SpecialDay(
        around + timedelta(days=draw(st.integers(-2, 3))),
        tuple((open_minute, open_minute + draw(st.integers(1, DAY))) for open_minute in opens),
    )


@st.composite
def hours_of(draw: st.DrawFn, *, timezone: str, around: date) -> Hours:
    weekly = draw(st.one_of(st.just(ALWAYS), st.lists(periods(), max_size=5).map(tuple)))
    special = st.lists(special_days(around=around), max_size=3, unique_by=lambda day: day.date)
    return Hours(timezone, weekly, tuple(draw(special)))


@cache
def clock_changes(timezone: str) -> tuple[date, ...]:
    """The days of 2026 and 2027 on which the zone's clocks change; some day for a zone whose clocks do not."""
    zone = ZoneInfo(timezone)
    midnights = [datetime(2026, 1, 1, tzinfo=zone) + timedelta(days=passed) for passed in range(2 * 365)]
    changes = [day for day in midnights if day.utcoffset() != (day + timedelta(days=1)).utcoffset()]
    return tuple(day.date() for day in changes) or (date(2027, 3, 28),)


@cache
def wall(timezone: str, day: date) -> tuple[datetime, tuple[int, ...]]:
    """For three days of UTC minutes, the latest reading so far of a local clock in minutes since year 1.

    Clocks that go back do not count twice: an opening that has begun or ended does not begin or end again.
    """
    zone = ZoneInfo(timezone)
    start = datetime.combine(day, time(), UTC) - timedelta(days=1)
    readings: list[int] = []
    latest = 0
    for passed in range(-180, 3 * DAY):
        local = (start + passed * MINUTE).astimezone(zone)
        latest = max(latest, local.toordinal() * DAY + local.hour * 60 + local.minute)
        readings.append(latest)
    return start, tuple(readings[180:])


def opener(hours: Hours) -> Callable[[int], bool]:
    """Whether the place is open when the clock on its wall reads so many minutes since year 1."""
    special = {day.date.toordinal(): day.periods for day in hours.special_days}
    weekly = [(DAY + period.opens.of_week, period.length, period.length <= DAY) for period in hours.periods]

    def is_open(reading: int) -> bool:
        for opens, length, is_of_one_day in weekly:
            passed = (reading - opens) % WEEK
            if passed < length and (reading - passed if is_of_one_day else reading) // DAY not in special:
                return True
        for day, replaced in special.items():
            for opens, closes in replaced:
                if opens <= reading - day * DAY < closes:
                    return True
        return False

    return is_open


def scan(hours: Hours, day: date) -> list[tuple[datetime, datetime]]:
    start, readings = wall(hours.timezone, day)
    is_open = opener(hours)
    found: list[tuple[int, int]] = []
    for passed, reading in enumerate(readings):
        if is_open(reading):
            begun = found.pop()[0] if found and found[-1][1] == passed else passed
            found.append((begun, passed + 1))
    return [(start + opens * MINUTE, start + closes * MINUTE) for opens, closes in found]


def weekly(*days: int, opens: int, closes: int) -> tuple[Period, ...]:
    return tuple(Period(Moment(day, opens), Moment((day + closes // DAY) % 7, closes % DAY)) for day in days)


def local(*when: int) -> datetime:
    return datetime(*when, tzinfo=COPENHAGEN)  # type: ignore[arg-type, misc]


def spans_of(hours: Hours, start: datetime, *, days: int) -> list[tuple[str, str]]:
    """On the wall of the place: "We 18:00"."""
    zone = ZoneInfo(hours.timezone)
    found = hours.spans(start=start, end=start + timedelta(days=days))
    return [(f"{opens.astimezone(zone):%a %H:%M}", f"{closes.astimezone(zone):%a %H:%M}") for opens, closes in found]


def check_spans(timezone: str, data: st.DataObject) -> None:
    day = data.draw(st.sampled_from(clock_changes(timezone)))
    hours = data.draw(hours_of(timezone=timezone, around=day))
    start, readings = wall(timezone, day)

    spans = hours.spans(start=start, end=start + len(readings) * MINUTE)

    assert spans == scan(hours, day)
    moments = [moment for span in spans for moment in span]
    assert all(earlier < later for earlier, later in pairwise(moments))


@pytest.mark.sample(3)
@pytest.mark.parametrize("timezone", MARKET_ZONES + MIDNIGHT_ZONES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_spans_are_what_a_minute_scan_finds_around_every_clock_change(timezone: str, data: st.DataObject) -> None:
    check_spans(timezone, data)


@pytest.mark.deep
@pytest.mark.parametrize("timezone", MARKET_ZONES + MIDNIGHT_ZONES)
@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_spans_are_what_a_minute_scan_finds_in_a_thousand_weeks_of_each_zone(
    timezone: str, data: st.DataObject
) -> None:
    check_spans(timezone, data)


# What the evening before, the day of the change and the one after may be at their oddest.
NIGHTS = weekly(*range(7), opens=1080, closes=1560)
ODD_DAYS: dict[str, tuple[tuple[Period, ...], tuple[tuple[int, tuple[tuple[int, int], ...]], ...]]] = {
    "the tail of the evening before an off day": (NIGHTS, ((0, ()),)),
    "a special day that runs past midnight": (NIGHTS, ((-1, ((1200, 1680),)),)),
    "a special day that runs past midnight into an off day": (NIGHTS, ((-1, ((1200, 1680),)), (0, ()))),
    "a special day of twice the same tail": (NIGHTS, ((-1, ((1200, 1620), (1380, 1590))),)),
    "round the clock": (ALWAYS, ()),
    "round the clock but for the day": (ALWAYS, ((0, ()),)),
    "a whole week in one": ((Period(Moment(2, 600), Moment(2, 600)),), ((0, ()),)),
    "a whole week in one, open again at night": ((Period(Moment(2, 600), Moment(2, 600)),), ((0, ((90, 150),)),)),
    "breakfast at the hour that is skipped or repeated": (weekly(*range(7), opens=125, closes=175), ()),
    "lunch and a dinner with an open end": (
        (
            *weekly(*range(7), opens=660, closes=900),
            *(Period(Moment(day, 1320), Moment((day + 1) % 7, 0), "open_end") for day in range(7)),
        ),
        ((1, ((660, 2100),)),),
    ),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("timezone", MARKET_ZONES)
@pytest.mark.parametrize("odd", ODD_DAYS)
def test_odd_days_are_what_a_minute_scan_finds_on_the_days_when_clocks_change(timezone: str, odd: str) -> None:
    periods, special = ODD_DAYS[odd]
    changes = clock_changes(timezone)
    for day in changes:
        special_days = tuple(SpecialDay(day + timedelta(days=passed), periods) for passed, periods in special)
        hours = Hours(timezone, periods, special_days)
        start, readings = wall(timezone, day)
        assert hours.spans(start=start, end=start + len(readings) * MINUTE) == scan(hours, day)
    assert len(changes) == (1 if timezone in ("Asia/Tokyo", "Asia/Singapore", "Asia/Dubai") else 4)


def check_state(data: st.DataObject) -> None:
    timezone = data.draw(st.sampled_from(MARKET_ZONES))
    day = data.draw(st.sampled_from(clock_changes(timezone)))
    weekly_hours = data.draw(st.lists(periods(), min_size=1, max_size=5).map(tuple))
    special = tuple(data.draw(st.lists(special_days(around=day), max_size=2, unique_by=lambda each: each.date)))
    hours = Hours(timezone, weekly_hours, special)
    start, readings = wall(timezone, day)
    passed = data.draw(st.integers(0, len(readings) - 1))
    at = start + passed * MINUTE + timedelta(seconds=data.draw(st.integers(0, 59)))

    state = hours.state(at)

    is_open = opener(hours)
    is_open_now = is_open(readings[passed])
    changed = next((later for later in range(passed, len(readings)) if is_open(readings[later]) != is_open_now), 0)
    assert (state.state, state.open_now) == (("open", True) if is_open_now else ("closed", False))
    change = state.next_change and state.next_change.astimezone(UTC)
    if changed:
        assert change == start + changed * MINUTE
    else:
        # After the minutes that were scanned, if at all.
        assert change is None or change >= start + len(readings) * MINUTE
    if state.next_change is not None:
        assert hours.state(state.next_change).open_now is not state.open_now


@pytest.mark.exhaustive
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_state_and_its_next_change_are_what_a_minute_scan_finds(data: st.DataObject) -> None:
    check_state(data)


@pytest.mark.deep
@settings(max_examples=10_000, deadline=None)
@given(data=st.data())
def test_the_state_is_what_a_minute_scan_finds_at_ten_thousand_moments(data: st.DataObject) -> None:
    check_state(data)


def test_a_tail_after_midnight_belongs_to_the_day_that_opened() -> None:
    friday_night = Hours("Europe/Copenhagen", weekly(4, opens=1080, closes=1560), ())

    assert spans_of(friday_night, local(2026, 11, 16), days=7) == [("Fri 18:00", "Sat 02:00")]
    assert friday_night.state(local(2026, 11, 21, 1, 59)) == OpenState("open", True, local(2026, 11, 21, 2))
    assert friday_night.state(local(2026, 11, 21, 2)) == OpenState("closed", False, local(2026, 11, 27, 18))


def test_a_closed_special_day_keeps_the_tail_of_the_evening_before() -> None:
    saturday_off = SpecialDay(date(2026, 11, 21), ())
    nights = Hours("Europe/Copenhagen", weekly(4, 5, opens=1080, closes=1560), (saturday_off,))

    assert spans_of(nights, local(2026, 11, 16), days=7) == [("Fri 18:00", "Sat 02:00")]


def test_a_special_day_replaces_the_periods_that_open_on_it_with_its_own() -> None:
    new_years_eve = SpecialDay(date(2026, 12, 31), ((720, 840), (1200, 1680)))
    daily = Hours("Europe/Copenhagen", weekly(*range(7), opens=600, closes=1380), (new_years_eve,))

    assert spans_of(daily, local(2026, 12, 30), days=3) == [
        ("Wed 10:00", "Wed 23:00"),
        ("Thu 12:00", "Thu 14:00"),
        ("Thu 20:00", "Fri 04:00"),
        ("Fri 10:00", "Fri 23:00"),
    ]


@pytest.mark.parametrize("around_the_clock", [ALWAYS, (Period(Moment(2, 600), Moment(2, 600)),)])
def test_a_place_open_round_the_clock_never_changes_but_for_its_special_day(
    around_the_clock: tuple[Period, ...],
) -> None:
    start = datetime(2026, 11, 16, tzinfo=UTC)
    always = Hours("Asia/Tokyo", around_the_clock, ())
    closed_once = Hours("Asia/Tokyo", around_the_clock, (SpecialDay(date(2026, 11, 19), ()),))

    assert always.spans(start=start, end=start + timedelta(days=15)) == [(start, start + timedelta(days=15))]
    assert always.state(start) == OpenState("open", True, None)
    assert closed_once.state(start).next_change == datetime(2026, 11, 19, tzinfo=ZoneInfo("Asia/Tokyo"))


def test_a_period_longer_than_a_day_is_closed_by_a_special_day_in_its_middle() -> None:
    festival = Hours(
        "Europe/Copenhagen",
        (Period(Moment(4, 1080), Moment(6, 1200)),),
        (SpecialDay(date(2026, 11, 21), ()),),
    )

    assert spans_of(festival, local(2026, 11, 16), days=7) == [("Fri 18:00", "Sat 00:00"), ("Sun 00:00", "Sun 20:00")]


@pytest.mark.parametrize(
    ("opens", "closes", "expected"),
    [
        (1080, 1560, ("2027-10-30T16:00", "2027-10-31T00:00")),
        (1080, 1620, ("2027-10-30T16:00", "2027-10-31T02:00")),
        (120, 180, ("2027-10-31T00:00", "2027-10-31T02:00")),
        (150, 300, ("2027-10-31T00:30", "2027-10-31T04:00")),
    ],
)
def test_a_time_that_autumn_repeats_means_its_first_occurrence(
    opens: int, closes: int, expected: tuple[str, str]
) -> None:
    weekday = 5 if closes > DAY else 6
    hours = Hours("Europe/Copenhagen", weekly(weekday, opens=opens, closes=closes), ())

    (span,) = hours.spans(start=local(2027, 10, 30, 12), end=local(2027, 10, 31, 23))

    assert tuple(f"{moment:%Y-%m-%dT%H:%M}" for moment in span) == expected


@pytest.mark.parametrize(
    ("opens", "closes", "expected"),
    [
        (1080, 1560, ("2027-03-27T17:00", "2027-03-28T01:00")),
        (1080, 1590, ("2027-03-27T17:00", "2027-03-28T01:00")),
        (1080, 1620, ("2027-03-27T17:00", "2027-03-28T01:00")),
        (150, 300, ("2027-03-28T01:00", "2027-03-28T03:00")),
    ],
)
def test_a_time_that_spring_skips_means_the_moment_of_the_skip(
    opens: int, closes: int, expected: tuple[str, str]
) -> None:
    weekday = 5 if closes > DAY else 6
    hours = Hours("Europe/Copenhagen", weekly(weekday, opens=opens, closes=closes), ())

    (span,) = hours.spans(start=local(2027, 3, 27, 12), end=local(2027, 3, 28, 23))

    assert tuple(f"{moment:%Y-%m-%dT%H:%M}" for moment in span) == expected


def test_an_opening_that_spring_skips_whole_does_not_take_place() -> None:
    hours = Hours("Europe/Copenhagen", weekly(6, opens=125, closes=175), ())

    assert hours.spans(start=local(2027, 3, 27, 12), end=local(2027, 3, 28, 23)) == []


def test_spans_are_cut_to_what_was_asked_and_half_open() -> None:
    hours = Hours("Europe/Copenhagen", weekly(0, opens=600, closes=720), ())
    noon = local(2026, 11, 23, 12)

    assert hours.spans(start=local(2026, 11, 23, 11), end=local(2026, 11, 23, 11, 30)) == [
        (local(2026, 11, 23, 11), local(2026, 11, 23, 11, 30))
    ]
    assert hours.spans(start=noon, end=noon + timedelta(hours=1)) == []
    assert hours.spans(start=noon, end=noon - timedelta(hours=1)) == []


def test_unknown_hours_are_not_closed_hours() -> None:
    unknown = Hours("Europe/Copenhagen", (), (), osm='"by appointment"', known=False)
    closed = Hours("Europe/Copenhagen", (), ())
    now = local(2026, 11, 21, 12)

    assert unknown.state(now) == OpenState("unknown", None, None)
    assert closed.state(now) == OpenState("closed", False, None)
    assert unknown.spans(start=now, end=now + timedelta(days=1)) == []


def test_change_of_hours_beyond_fourteen_days_is_not_shown() -> None:
    reopens = SpecialDay(date(2026, 12, 5), ((600, 720),))
    hours = Hours("Europe/Copenhagen", (), (reopens,))

    assert hours.state(local(2026, 11, 21, 9)) == OpenState("closed", False, None)
    assert hours.state(local(2026, 11, 21, 11)) == OpenState("closed", False, local(2026, 12, 5, 10))


def test_hours_of_special_days_alone_are_unknown_after_the_last() -> None:
    season = Hours("Europe/Copenhagen", (), (SpecialDay(date(2026, 11, 21), ((600, 720),)),))

    assert season.state(local(2026, 11, 21, 23, 59)).state == "closed"
    assert season.state(local(2026, 11, 22)) == OpenState("unknown", None, None)


def test_next_change_is_in_the_time_zone_of_the_restaurant() -> None:
    hours = Hours("America/New_York", weekly(5, opens=1020, closes=1380), ())

    change = hours.state(datetime(2026, 11, 21, 12, tzinfo=UTC)).next_change

    assert change is not None
    assert change.isoformat() == "2026-11-21T17:00:00-05:00"


def test_a_moment_without_a_zone_is_refused() -> None:
    hours = Hours("Europe/Copenhagen", ALWAYS, ())

    with pytest.raises(ValueError, match="a moment needs a time zone"):
        hours.state(datetime(2026, 11, 21))  # noqa: DTZ001 (that is the point)
