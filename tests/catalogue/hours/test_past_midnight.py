"""Real opening hours of two cities, above all those past midnight, against a reading of our own in thirty lines."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from catalogue.hours import Hours, read_osm

SHARED = Path(__file__).parents[4] / "shared" / "data"
REAL = sorted([*SHARED.glob("osm_copenhagen/*.geojson"), *SHARED.glob("osm_milano/*.geojson")])
COPENHAGEN = ZoneInfo("Europe/Copenhagen")
# A Monday; the two weeks after it have no holiday and no change of the clocks.
MONDAY = date(2026, 11, 23)
DAY, WEEK = 1440, 10080
MINUTE = timedelta(minutes=1)

NAMES = ("mo", "tu", "we", "th", "fr", "sa", "su")
_NAME = f"(?:{'|'.join(NAMES)})"
_DAYS = rf"{_NAME}(?:-{_NAME})?(?:\s*,\s*{_NAME}(?:-{_NAME})?)*"
_TIMES = r"\d{1,2}:\d{2}-\d{1,2}:\d{2}"
PLAIN = re.compile(rf"\s*({_DAYS})?:?\s*({_TIMES}(?:\s*,\s*{_TIMES})*|off|24/7)\s*([;,]|$)", re.IGNORECASE)

Week = dict[int, list[tuple[int, int]]]


def minutes(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


def days(selector: str | None) -> list[int]:
    chosen: list[int] = []
    for item in re.findall(rf"{_NAME}(?:-{_NAME})?", (selector or "mo-su").lower()):
        first, last = NAMES.index(item[:2]), NAMES.index(item[-2:])
        chosen += [(first + passed) % 7 for passed in range((last - first) % 7 + 1)]
    return chosen


def plain(text: str) -> Week | None:
    """Weekdays with times: after a semicolon they replace what was said before, after a comma they come to it."""
    week: Week = {day: [] for day in range(7)}
    position, joined = 0, ";"
    while position < len(text):
        match = PLAIN.match(text, position)
        if match is None:
            return None
        selector, body, separator = match.groups()
        spans = [(0, DAY)] if body == "24/7" else []
        for opens, closes in re.findall(r"([\d:]+)-([\d:]+)", body):
            lasts = (minutes(closes) - minutes(opens)) % DAY or DAY
            spans.append((minutes(opens), minutes(opens) + lasts))
        for day in days(selector):
            week[day] = [*week[day], *spans] if joined == "," and spans else spans
        position, joined = match.end(), separator
    return week


def of_week(week: Week) -> set[int]:
    return {(day * DAY + minute) % WEEK for day in week for span in week[day] for minute in range(*span)}


def read(text: str) -> Hours:
    return read_osm(text, timezone="Europe/Copenhagen", on=MONDAY)


def open_minutes(hours: Hours, *, first: date = MONDAY + timedelta(days=7)) -> set[int]:
    """In the week from a Monday."""
    start = datetime.combine(first, datetime.min.time(), COPENHAGEN).astimezone(UTC)
    return {
        (opens - start) // MINUTE + passed
        for opens, closes in hours.spans(start=start, end=start + timedelta(days=7))
        for passed in range((closes - opens) // MINUTE)
    }


def is_late(hours: Hours) -> bool:
    weekly = [(period.opens.minute, period.opens.minute + period.length) for period in hours.periods]
    special = [span for day in hours.special_days for span in day.periods]
    return any(closes > DAY for opens, closes in [*weekly, *special])


@pytest.fixture(scope="module")
def strings() -> list[str]:
    if len(REAL) < 2:
        pytest.skip("the OpenStreetMap files are not here")
    places = [place["properties"] for path in REAL for place in json.loads(path.read_text())["features"]]
    return sorted({place["opening_hours"] for place in places if place.get("opening_hours")})


# Every real late string that is more than weekdays and times, with what a person reads in it: how many minutes after
# midnight the nights end that begin on Monday to Sunday; 0 where they end before it.
READ_BY_HAND = {
    "08:00 - 01:00": (60, 60, 60, 60, 60, 60, 60),
    "10:00+, Fr-Sa 10:00-05:00, Su 11:00+": (0, 0, 0, 0, 300, 300, 0),
    "10:00-22:00; Th 10:00-23:00; PH 10:00-22:00, Fr-Sa 10:00-03:00": (0, 0, 0, 0, 180, 180, 0),
    "11:00-23:00; Th 11:00-24:00; Fr-Sa 11:00-03:00; Sep-Mar Su off": (0, 0, 0, 0, 180, 180, 0),
    "21:00 - 2:00": (120, 120, 120, 120, 120, 120, 120),
    "Fr-Sa 23:00+": (0, 0, 0, 0, 60, 60, 0),
    "Mo-Su 16:00 - 02:00": (120, 120, 120, 120, 120, 120, 120),
    "Mo-We 10:00-24:00, Th-Sa 10:00-02:00; Sep-Apr Su 10:00-18:00": (0, 0, 0, 120, 120, 120, 0),
    "Mo-We 14:00-03:00, Th 14:00-04:00, Fr 12:00-05:00, Sa 11:00-05:00, Su 16:00-22:00, Jan 1 off": (
        *(180, 180, 180, 240, 300, 300, 0),
    ),
    "PH,Mo-Th 10:00-01:00, PH,Su 10:00-20:00, PH,Fr,Sa 10:00-02:00": (60, 60, 60, 60, 120, 120, 0),
    "Tu-Th 14:00-24:00, Fr-Sa 14:00-02:00; week 30-31 off": (0, 0, 0, 0, 120, 120, 0),
}


@pytest.mark.exhaustive
def test_what_is_read_of_the_real_strings_is_counted(strings: list[str]) -> None:
    known = [text for text in strings if read(text).known]
    late = [text for text in known if is_late(read(text))]
    exotic = [text for text in late if plain(text) is None]

    assert (len(strings), len(known), len(strings) - len(known), len(late), len(exotic)) == (1187, 1169, 18, 240, 11)
    assert set(exotic) == set(READ_BY_HAND)


@pytest.mark.exhaustive
def test_every_plain_string_is_open_in_the_minutes_that_a_second_reading_finds(strings: list[str]) -> None:
    compared = late = 0
    for text in strings:
        week, hours = plain(text), read(text)
        if week is None or not hours.known:
            continue
        compared += 1
        late += is_late(hours)
        assert open_minutes(hours) == of_week(week), text
    assert (compared, late) == (1024, 229)


@pytest.mark.parametrize("text", READ_BY_HAND)
def test_other_late_strings_end_when_a_person_reads_that_they_do(text: str) -> None:
    found = open_minutes(read(text))

    for day, tail in enumerate(READ_BY_HAND[text]):
        midnight = (day + 1) * DAY
        night = [(midnight + minute) % WEEK in found for minute in range(360)]
        assert night == [minute < tail for minute in range(360)], NAMES[day]


def test_a_string_of_comments_alone_is_unknown_and_never_open(strings: list[str]) -> None:
    comments = [text for text in strings if not re.sub(r'"[^"]*"', "", text).strip()]

    assert len(comments) == 11
    for text in [*comments, '"by reservation"', '"Mo-Fr 10:00-20:00"', 'Mo-Su "ask"']:
        hours = read(text)
        assert (hours.known, hours.osm, open_minutes(hours), hours.display) == (False, text, set(), [])
        assert hours.notes
        assert hours.state(datetime(2026, 11, 24, 12, tzinfo=UTC)).state == "unknown"
