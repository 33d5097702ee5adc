"""Reading OpenStreetMap's opening_hours: what strings from real places mean."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import opening_hours
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.hours import ALWAYS, Hours, read_osm
from catalogue.hours.osm_grammar import read_rules

MONDAY = date(2026, 11, 23)
COPENHAGEN = ZoneInfo("Europe/Copenhagen")
MINUTE = timedelta(minutes=1)
REAL = sorted((Path(__file__).parents[4] / "shared" / "data").glob("osm_*/*.geojson"))


def read(text: str, *, on: date = MONDAY, point: tuple[float, float] | None = None) -> Hours:
    return read_osm(text, timezone="Europe/Copenhagen", on=on, point=point)


def special(hours: Hours) -> dict[str, tuple[tuple[int, int], ...]]:
    return {day.date.isoformat(): day.periods for day in hours.special_days}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Th 20:00-03:00, Fr-Sa 20:00-05:00", "Mon-Wed closed; Thu 20:00-03:00; Fri-Sat 20:00-05:00; Sun closed"),
        ("Su-Fr 18:00-02:00; Fr 12:00-02:00", "Mon-Thu 18:00-02:00; Fri 12:00-02:00; Sat closed; Sun 18:00-02:00"),
        ("16:00-02:00; Su off", "Mon-Sat 16:00-02:00; Sun closed"),
        ("19:00-05:00; Su-We off", "Mon-Wed closed; Thu-Sat 19:00-05:00; Sun closed"),
        ("11:30-01:00,Su 17:30-24:00", "Every day 11:30-01:00"),
        ("We-Su 22:00-05:00", "Mon-Tue closed; Wed-Sun 22:00-05:00"),
        (
            "We,Th,Su 16:00-24:00, Fr,Sa 14:00-02:00",
            "Mon-Tue closed; Wed-Thu 16:00-24:00; Fri-Sat 14:00-02:00; Sun 16:00-24:00",
        ),
        (
            "Mo-Th 14:00-00:00; Fr, Sa 14:00-02:00; Su 14:00-23:00",
            "Mon-Thu 14:00-24:00; Fri-Sat 14:00-02:00; Sun 14:00-23:00",
        ),
        ("Mo-We 16:00-24:00, Th-Sa 16:00-02:00, Su off", "Mon-Wed 16:00-24:00; Thu-Sat 16:00-02:00; Sun closed"),
        (
            "Tu-Th 15:00-01:00, Fr,Sa 15:00-03:00; Su,Mo off",
            "Mon closed; Tue-Thu 15:00-01:00; Fri-Sat 15:00-03:00; Sun closed",
        ),
        ("Th 16:00-04:00,Fr-Sa 16:00-05:00", "Mon-Wed closed; Thu 16:00-04:00; Fri-Sat 16:00-05:00; Sun closed"),
        ("Su-Th 10:00-01:00, Fr-Sa10:00-02:00", "Mon-Thu 10:00-01:00; Fri-Sat 10:00-02:00; Sun 10:00-01:00"),
        ("Th-Fr 14:00-02:00; Sa-We 14:00-00:00", "Mon-Wed 14:00-24:00; Thu-Fri 14:00-02:00; Sat-Sun 14:00-24:00"),
        (
            "We 21:00-24:00; Th 00:00-03:00,21:00-24:00",
            "Mon-Tue closed; Wed 21:00-24:00; Thu 00:00-03:00, 21:00-24:00; Fri-Sun closed",
        ),
    ],
)
def test_late_nights_keep_the_hours_after_midnight(text: str, line: str) -> None:
    hours = read(text)

    assert "; ".join(hours.display) == line
    assert (hours.osm, hours.known, hours.special_days) == (text, True, ())


def test_the_night_into_an_off_day_is_open_until_it_ends() -> None:
    hours = read("16:00-02:00; Su off")

    assert hours.state(datetime(2026, 11, 29, 1, 59, tzinfo=COPENHAGEN)).state == "open"
    assert hours.state(datetime(2026, 11, 29, 2, tzinfo=COPENHAGEN)).state == "closed"
    assert hours.state(datetime(2026, 11, 30, 1, tzinfo=COPENHAGEN)).state == "closed"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("12:00-22:00", "Every day 12:00-22:00"),
        (
            "Mo-Fr 11:30-15:00,17:30-22:00; Sa,Su 12:00 - 22:00",
            "Mon-Fri 11:30-15:00, 17:30-22:00; Sat-Sun 12:00-22:00",
        ),
        ("Sa-Tu 9:00-17:00", "Mon-Tue 09:00-17:00; Wed-Fri closed; Sat-Sun 09:00-17:00"),
        ("Mo-Fri 15:00-22:00; Sa-Sun 12:00-23:00", "Mon-Fri 15:00-22:00; Sat-Sun 12:00-23:00"),
        ("Monday: 10:00\N{EN DASH}12:00", "Mon 10:00-12:00; Tue-Sun closed"),
        ("mo-tu Off; We-Su 11:00-18:00;", "Mon-Tue closed; Wed-Sun 11:00-18:00"),
        ("Mo-Fr 10:00-26:00", "Mon-Fri 10:00-02:00; Sat-Sun closed"),
        ("Mo 10:00-10:00 open", "Mon 10:00-10:00; Tue-Sun closed"),
        ("24/7", "Every day open 24 hours"),
        ("24/7; Mo closed", "Mon closed; Tue-Sun open 24 hours"),
        ("off", "Every day closed"),
        ('17:30-24:00 "last order 21:30"', "Every day 17:30-24:00"),
        ('"opera days"; Mo-Fr 11:00-16:00', "Mon-Fri 11:00-16:00; Sat-Sun closed"),
        (
            "00:00-24:00, Fr 22:00-05:00",
            "Mon-Thu open 24 hours; Fri open 24 hours, 22:00-05:00; Sat-Sun open 24 hours",
        ),
    ],
)
def test_the_plain_grammar_is_read(text: str, line: str) -> None:
    hours = read(text)

    assert "; ".join(hours.display) == line
    assert hours.known


def test_round_the_clock_is_a_period_for_each_day() -> None:
    assert read("24/7").periods == ALWAYS


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Mo-Sa 10:00-18:00; We 12:00-20:00", "Mon-Tue 10:00-18:00; Wed 12:00-20:00; Thu-Sat 10:00-18:00; Sun closed"),
        ("Mo-We 10:00-12:00, We 14:00-16:00", "Mon-Tue 10:00-12:00; Wed 10:00-12:00, 14:00-16:00; Thu-Sun closed"),
        ("Mo-Tu 10:00-15:00, Tu 14:00-16:00", "Mon 10:00-15:00; Tue 10:00-16:00; Wed-Sun closed"),
        ("10:00-12:00, Su off", "Mon-Sat 10:00-12:00; Sun closed"),
        ("Su off; 10:00-12:00", "Every day 10:00-12:00"),
        ("Mo-Fr 10:00-12:00 || Fr-Sa 14:00-16:00", "Mon-Fri 10:00-12:00; Sat 14:00-16:00; Sun closed"),
        ('Mo-Sa 10:00-12:00 || "by appointment"', "Mon-Sat 10:00-12:00; Sun closed"),
    ],
)
def test_rules_replace_add_and_fill_in_their_order(text: str, line: str) -> None:
    assert "; ".join(read(text).display) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("PH,Mo-Su 07:00-20:00", "Every day 07:00-20:00"),
        ("Mo-Fr 08:00-18:00; Sa,Su,PH 09:00-17:00", "Mon-Fri 08:00-18:00; Sat-Sun 09:00-17:00"),
        ("Mo-Sa 11:30-24:00, PH off", "Mon-Sat 11:30-24:00; Sun closed"),
        (
            "10:00-22:00; PH 12:00-22:00, Fr-Sa 10:00-23:00",
            "Mon-Thu 10:00-22:00; Fri-Sat 10:00-23:00; Sun 10:00-22:00",
        ),
        ("Mo-Fr 10:00-18:00; PH Mo-Fr 12:00-14:00; SH off", "Mon-Fri 10:00-18:00; Sat-Sun closed"),
    ],
)
def test_holidays_change_nothing_because_they_are_data_of_the_market(text: str, line: str) -> None:
    hours = read(text)

    assert ("; ".join(hours.display), hours.special_days, hours.osm) == (line, (), text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("18:00+", "Every day 18:00-24:00 or later"),
        ("Fr-Sa 23:00+", "Mon-Thu closed; Fri-Sat 23:00-01:00 or later; Sun closed"),
        ("11:00-16:00,16:00+", "Every day 11:00-24:00 or later"),
        ("17:00-24:00,18:00+", "Every day 17:00-24:00"),
        (
            "Mo-Sa 12:00-14:30+,17:30-21:30+",
            "Mon-Sat 12:00-14:30 or later, 17:30-21:30 or later; Sun closed",
        ),
        ("10:00+, Fr-Sa 10:00-05:00", "Mon-Thu 10:00-24:00 or later; Fri-Sat 10:00-05:00; Sun 10:00-24:00 or later"),
    ],
)
def test_an_open_end_is_marked_as_an_estimate(text: str, line: str) -> None:
    assert "; ".join(read(text).display) == line


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"by appointment"',
        'Tu-Sa "evenings"',
        "Tu-Sa",
        "Jun-Aug",
        "Su off",
        "PH 10:00-12:00",
        "By appointment",
        "Mo-Su 07:30-16:00 (Tuesday closed)",
        "24/7 17:30-02:00",
        "Mo 10:00-12:00 13:00-14:00",
        "Mo 10:00-12:00, off",
        "Mo 10:00",
        "Mo 10:70-12:00",
        "Mo 25:00-26:00",
        "Mo 10:00-48:00",
        "Mo-Fr 10:00-18:00 unknown",
        'Mo 10:00-12:00 "half a comment',
        "sunrise-sunset",
        "easter - 3 days 11:00-19:00",
    ],
)
def test_what_does_not_say_when_is_unknown_and_keeps_its_text(text: str) -> None:
    assert read(text) == Hours("Europe/Copenhagen", (), (), osm=text, known=False)


@pytest.mark.exhaustive
@given(st.text(alphabet='MoTuWeThFrSaSuPH 0123456789:-,;+|"/ofJanDec[]', max_size=40))
def test_no_text_whatever_is_refused(text: str) -> None:
    assert read(text).osm == text


def test_dates_become_special_days_where_they_differ_from_the_week() -> None:
    hours = read("09:00-23:00; Dec 24 off; Dec 31 09:00-16:30; Feb 14 09:00-24:00")

    assert hours.display == ["Every day 09:00-23:00"]
    assert special(hours) == {"2026-12-24": (), "2026-12-31": ((540, 990),)}


def test_the_nth_sunday_becomes_special_days() -> None:
    assert special(read("Mo-Sa 11:00-18:00; Su off; Su[1] 12:00-17:00")) == {
        "2026-12-06": ((720, 1020),),
        "2027-01-03": ((720, 1020),),
    }


def test_easter_and_week_numbers_are_found_in_the_calendar() -> None:
    easter = read("Tu-Su 17:30-23:30; easter -3 days-easter +1 day off", on=date(2027, 3, 1))
    week = read("Tu-Th 14:00-24:00, Fr-Sa 14:00-02:00; week 30-31 off", on=date(2027, 7, 1))

    assert list(special(easter)) == ["2027-03-25", "2027-03-26", "2027-03-27", "2027-03-28"]
    assert list(special(week)) == [
        f"2027-{day}"
        for day in ("07-27", "07-28", "07-29", "07-30", "07-31", "08-03", "08-04", "08-05", "08-06", "08-07")
    ]


def test_a_special_day_keeps_the_night_before_and_its_own_tail() -> None:
    hours = read("Mo-Sa 14:00-02:00; Dec 5 18:00-05:00")
    saturday = datetime(2026, 12, 5, tzinfo=COPENHAGEN)

    assert [
        (opens.astimezone(COPENHAGEN).isoformat(), closes.astimezone(COPENHAGEN).isoformat())
        for opens, closes in hours.spans(start=saturday, end=saturday + timedelta(days=2))
    ] == [
        ("2026-12-05T00:00:00+01:00", "2026-12-05T02:00:00+01:00"),
        ("2026-12-05T18:00:00+01:00", "2026-12-06T05:00:00+01:00"),
    ]


def test_a_season_without_a_week_is_written_out_for_sixty_days() -> None:
    hours = read("Apr 1-Dec 20 11:00-17:00")

    assert hours.display == ["Varies by date"]
    assert len(hours.special_days) == 60
    assert special(hours)["2026-12-20"] == ((660, 1020),)
    assert special(hours)["2026-12-21"] == ()


def test_a_season_holds_for_the_days_after_its_comma() -> None:
    hours = read("Mo-Su 11:00-22:00; Jul-Aug Mo-Fr 11:00-22:00,Sa-Su 10:00-22:00")

    assert hours.display == ["Every day 11:00-22:00"]
    assert special(read(hours.osm or "", on=date(2027, 8, 27))) == {
        f"2027-08-{day}": ((600, 1320),) for day in (28, 29)
    }


def test_a_season_ends_where_the_next_is_named() -> None:
    hours = special(read("Nov Mo 10:00-12:00, Dec 11:00-13:00"))

    assert hours["2026-11-30"] == ((600, 720),)
    assert hours["2026-12-01"] == ((660, 780),)
    assert hours["2027-01-04"] == ()


@pytest.mark.exhaustive
def test_hours_by_the_sun_need_the_place() -> None:
    hours = read("Sa,Su 10:00-(sunset-01:00)", point=(55.6761, 12.5683))

    assert hours.known
    assert special(hours)["2026-11-27"] == ()
    ((opens, closes),) = special(hours)["2026-11-28"]
    assert opens == 600
    assert abs(closes - (14 * 60 + 45)) <= 3


@pytest.mark.exhaustive
def test_a_night_until_sunrise_ends_on_the_day_after() -> None:
    ((opens, closes),) = special(read("Fr 20:00-sunrise", point=(55.6761, 12.5683)))["2026-11-27"]

    assert opens == 1200
    assert abs(closes - (1440 + 8 * 60 + 8)) <= 3


@pytest.fixture(scope="module")
def real_strings() -> list[str]:
    if not REAL:
        pytest.skip("the OpenStreetMap files are not here")
    places = [place["properties"] for path in REAL for place in json.loads(path.read_text())["features"]]
    return sorted({place["opening_hours"] for place in places if place.get("opening_hours")})


@pytest.mark.exhaustive
def test_nearly_all_real_strings_are_read(real_strings: list[str]) -> None:
    known = [text for text in real_strings if read(text).known]
    plain = [text for text in known if all(rule.weekdays is not None for rule in read_rules(text))]

    assert (len(real_strings), len(known), len(plain)) == (1187, 1169, 1119)


@pytest.mark.exhaustive
def test_real_plain_hours_agree_with_the_library_but_for_its_two_known_faults(real_strings: list[str]) -> None:
    """It drops or invents the hours after midnight where rules meet, and reads "Sa, Su" as two rules."""
    start = datetime(2026, 11, 23, tzinfo=COPENHAGEN).astimezone(UTC)
    end = start + timedelta(days=14)
    compared = disagreeing = 0
    for text in real_strings:
        hours = read(text)
        has_a_list_with_spaces = re.search(r"[a-z], [A-Z]\w(-\w\w)?[ ,]", text) is not None
        if not hours.periods or hours.special_days or has_a_list_with_spaces or not opening_hours.validate(text):
            continue
        compared += 1
        ours, theirs = hours.spans(start=start, end=end), spans_of_library(text, start, end)
        if ours != theirs:
            disagreeing += 1
            differing = minutes_of(ours) ^ minutes_of(theirs)
            assert all(minute.astimezone(COPENHAGEN).hour < 6 for minute in differing), text

    assert (compared, disagreeing) == (1096, 76)


def spans_of_library(text: str, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    expression = opening_hours.OpeningHours(text, timezone=COPENHAGEN, auto_country=False, auto_timezone=False)
    return [
        (opens.astimezone(UTC), closes.astimezone(UTC))
        for opens, closes, state, _ in expression.intervals(start.astimezone(COPENHAGEN), end.astimezone(COPENHAGEN))
        if state == opening_hours.State.OPEN
    ]


def minutes_of(spans: list[tuple[datetime, datetime]]) -> set[datetime]:
    return {opens + passed * MINUTE for opens, closes in spans for passed in range((closes - opens) // MINUTE)}
