"""Searches for a moment beyond the stored open intervals: the same hours, order, pages and counts, for a year."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.test import Client

from catalogue import search
from catalogue.hours import Hours, date_range, open_at, open_intervals, read_osm
from catalogue.models import Restaurant
from catalogue.search import INTERVALS_AHEAD, Facet, Query, Sort, later_moments
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.catalogue.search.search_requests import names, refused, walk
from tests.mcp.client import call, content_of
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db

SUMMER = "2027-06-15T12:00:00+02:00"


def osm(text: str, timezone: str = "Europe/Copenhagen") -> dict[str, Any]:
    """Hours as an import stores them today."""
    return read_osm(text, timezone=timezone, on=NOW.date(), point=TIVOLI).to_json()


def open_then(moment: str, **question: Any) -> list[str]:
    return names(open=datetime.fromisoformat(moment), **question)


def test_a_moment_is_asked_for_within_a_year() -> None:
    builders.restaurant(name="night", hours=builders.week("18:00", "03:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    assert names(open=NOW + timedelta(days=14)) == ["night"]
    assert names(open=NOW + timedelta(days=14, seconds=1)) == ["night"]
    assert names(open=NOW + timedelta(days=13, hours=12)) == []
    # In summer it opens at 16:00 UTC, in winter at 17:00.
    assert names(open=NOW + timedelta(days=200, hours=-2)) == ["night"]
    assert names(open=NOW + timedelta(days=200, hours=-2, seconds=-1)) == []
    assert names(open=NOW + timedelta(days=365)) == ["night"]
    assert names(open=NOW - timedelta(minutes=59)) == ["night"]
    error = refused(open=NOW + timedelta(days=365, seconds=1))
    assert (error.param, error.message) == ("open", "`open` must be within the next 365 days.")
    assert refused(open=NOW - timedelta(minutes=61)).param == "open"


@pytest.mark.parametrize(
    ("text", "moment", "is_open"),
    [
        ("Mo-Su 10:00-22:00", "2027-06-15T21:59:59+02:00", True),
        ("Mo-Su 10:00-22:00", "2027-06-15T22:00:00+02:00", False),
        # Saturday night belongs to Saturday, and the night of the clock change ends at the skip.
        ("Sa 18:00-02:00", "2027-06-13T01:59:00+02:00", True),
        ("Sa 18:00-02:30", "2027-03-28T00:59:59Z", True),
        ("Sa 18:00-02:30", "2027-03-28T01:00:00Z", False),
        # Dates, public holidays, seasons, weeks and Easter.
        ("Mo-Su 10:00-22:00; Dec 25 off", "2026-12-25T12:00:00+01:00", False),
        ("Mo-Su 10:00-22:00; Dec 25 off", "2026-12-26T12:00:00+01:00", True),
        ("Mo-Su 10:00-22:00; PH off", "2027-05-06T12:00:00+02:00", False),
        ("Mo-Su 10:00-22:00", "2027-05-06T12:00:00+02:00", True),
        ("Jun-Aug Mo-Su 10:00-20:00", SUMMER, True),
        ("Jun-Aug Mo-Su 10:00-20:00", "2027-09-01T12:00:00+02:00", False),
        ("Mo-Su 10:00-20:00; easter off", "2027-03-28T12:00:00+02:00", False),
        # Of the sun: it sets at 21:55 in June and at 15:40 in December.
        ("Mo-Su 10:00-sunset", "2027-06-15T21:00:00+02:00", True),
        ("Mo-Su 10:00-sunset", "2026-12-15T16:00:00+01:00", False),
        ("by appointment", SUMMER, False),
    ],
)
def test_hours_of_later_days_follow_their_dates_holidays_and_seasons(text: str, moment: str, is_open: bool) -> None:
    place = builders.restaurant(name="it", hours=osm(text))
    builders.holiday(place.market, date(2027, 5, 6), "Ascension Day")
    open_intervals.refresh_open_intervals(now=NOW)
    assert open_then(moment) == (["it"] if is_open else [])


def test_a_later_moment_is_on_the_clock_of_the_place_and_may_last() -> None:
    tokyo = builders.market("tokyo", timezone="Asia/Tokyo", latitude=35.68, longitude=139.69)
    builders.restaurant(name="Tokyo", market=tokyo, hours=builders.week("18:00", "23:00", timezone="Asia/Tokyo"))
    builders.restaurant(name="Copenhagen", hours=builders.week("18:00", "23:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    evening = datetime(2027, 6, 15, 20, 0)  # noqa: DTZ001  # on the clock of a place
    assert names(open=evening, market="tokyo") == ["Tokyo"]
    page = search.search_restaurants(Query(open=evening, market="tokyo"), now=NOW)
    assert page.open_at == datetime(2027, 6, 15, 11, 0, tzinfo=UTC)
    assert names(open=page.open_at) == ["Tokyo"]
    assert names(open=evening, market="tokyo", open_for=180) == ["Tokyo"]
    assert names(open=evening, market="tokyo", open_for=181) == []
    # Begins within the stored intervals and ends after them.
    edge = NOW + INTERVALS_AHEAD - timedelta(minutes=30)
    assert names(open=edge, open_for=120) == ["Copenhagen"]
    assert names(open=edge, open_for=300) == []


def test_special_days_and_hours_of_staff_hold_for_later_days() -> None:
    closed = builders.week("10:00", "22:00") | {"special_days": [{"date": "2027-06-15", "periods": []}]}
    builders.restaurant(name="closed that day", hours=closed)
    builders.restaurant(name="as usual", hours=builders.week("10:00", "22:00"))
    # Equal to their text, so its dates hold; and different from it, so they stay as staff entered them.
    builders.restaurant(name="as its text", hours=osm("Mo-Su 10:00-22:00; Jun off"), locked_fields=["hours"])
    corrected = osm("Mo-Su 10:00-22:00; Jun off") | {"periods": builders.week("09:00", "22:00")["periods"]}
    builders.restaurant(name="corrected", hours=corrected, locked_fields=["hours"])
    open_intervals.refresh_open_intervals(now=NOW)
    assert sorted(open_then(SUMMER)) == ["as usual", "corrected"]


def test_closures_and_unknown_hours_are_not_open_later() -> None:
    hours = builders.week("10:00", "22:00")
    builders.restaurant(name="open", hours=hours)
    builders.restaurant(name="shut", hours=hours, status="temporarily_closed")
    builders.restaurant(name="unknown")
    season = {"timezone": "Europe/Copenhagen", "special_days": [{"date": "2026-12-01", "periods": []}]}
    builders.restaurant(name="over", hours=Hours.from_json(season).to_json())
    # Before the worker has computed any interval, and after.
    assert open_then(SUMMER) == ["open"]
    open_intervals.refresh_open_intervals(now=NOW)
    assert open_then(SUMMER) == ["open"]


STRINGS = [
    "Mo-Fr 11:00-14:30,17:00-22:00; Sa,Su 12:00-23:00",
    "Tu-Sa 18:00-02:00; PH off",
    "Mo-Su 08:00-18:00; Dec 24-26 off; Jan 01 12:00-16:00",
    "Apr-Sep Mo-Su 10:00-21:00; Oct-Mar Fr-Su 12:00-18:00",
    "Su[1] 10:00-14:00; We-Sa 17:00-23:30",
    "week 1-26 Mo-Fr 09:00-17:00; week 27-53 Mo-Fr 11:00-19:00",
    "Sa,Su,PH 10:00-17:00",
    "24/7",
    "Mo-Su sunrise-sunset",
]


def many(count: int, random: Random) -> list[Restaurant]:
    """So many restaurants about Tivoli, with hours of all kinds."""
    kinds = [osm(text) for text in STRINGS]
    return Restaurant.objects.bulk_create(
        builders.unsaved(
            name=f"Fiskebar {number}",
            latitude=TIVOLI[0] + random.uniform(-0.01, 0.01),
            longitude=TIVOLI[1] + random.uniform(-0.01, 0.01),
            rating=random.randint(10, 50) / 10,
            review_count=random.randint(0, 60),
            hours=random.choice(kinds),
            locked_fields=random.choice([[], ["hours"]]),
        )
        for number in range(count)
    )


@pytest.mark.exhaustive
def test_later_moments_agree_with_the_hours_of_the_day_and_with_the_stored_intervals() -> None:
    random = Random(5)
    places = many(60, random)
    for day in (date(2026, 12, 25), date(2027, 1, 1), date(2027, 5, 6)):
        builders.holiday(places[0].market, day)
    open_intervals.refresh_open_intervals(now=NOW)
    zone = ZoneInfo("Europe/Copenhagen")
    for _ in range(12):
        at = NOW + timedelta(minutes=random.randrange(365 * 1440))
        day = at.astimezone(zone).date()
        expected = {
            place.name
            for place in places
            for span in date_range.list_hours(place.slug, first=day, last=day, now=NOW).spans or ()
            if span["opens_at"] <= at < span["closes_at"]
        }
        assert set(names(open=at, limit=60, ll=TIVOLI, radius=5_000)) == expected
        soon = NOW + timedelta(minutes=random.randrange(14 * 1440))
        stored = names(open=soon, limit=60, market="copenhagen")
        pks = {place.pk: place.name for place in places}
        found = open_at.find_open(list(pks), start=soon, end=soon, now=NOW)
        assert {pks[pk] for pk in found} == set(stored)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "query",
    [
        Query(limit=7),
        Query(limit=7, ll=TIVOLI, radius=5_000),
        Query(limit=7, ll=TIVOLI, radius=5_000, cuisine=("seafood",)),
        Query(limit=7, ll=TIVOLI, radius=5_000, sort=Sort.RATING),
        Query(limit=7, q="fiskebar"),
        Query(limit=7, q="fiskebra"),
        Query(limit=7, market="copenhagen", sort=Sort.RATING),
    ],
    ids=["reviews", "nearest", "cuisine", "rating", "words", "similar", "market"],
)
def test_pages_and_counts_of_a_later_moment_are_those_of_the_whole_search(query: Query) -> None:
    """More candidates than one batch: each restaurant that is open then once, in the order of the search."""
    places = many(260, Random(3))
    open_intervals.refresh_open_intervals(now=NOW)
    at = datetime.fromisoformat("2027-06-13T01:30:00+02:00")
    everybody = [hit.slug for page in walk(replace(query, limit=50)) for hit in page]
    is_open = set(open_at.find_open([place.pk for place in places], start=at, end=at, now=NOW))
    expected = [slug for slug in everybody if slug in {place.slug for place in places if place.pk in is_open}]
    assert len(everybody) == 260
    assert 40 < len(expected) < 100

    later = replace(query, open=at, include_total=True, facets=(Facet.CUISINE,))
    if not (query.ll or query.q or query.market):
        later = replace(later, market="copenhagen")
    assert [hit.slug for page in walk(later) for hit in page] == expected
    page = search.search_restaurants(later, now=NOW)
    assert page.total is not None
    assert page.facets is not None
    assert page.total.to_dict() == {"value": len(expected), "relation": "eq"}
    assert [(each.value, each.count) for each in page.facets.counts["cuisine"]] == [("seafood", len(expected))]


@pytest.mark.exhaustive
def test_a_later_moment_takes_two_statements_more_and_three_more_for_counts() -> None:
    many(30, Random(1))
    open_intervals.refresh_open_intervals(now=NOW)
    query = Query(ll=TIVOLI, radius=5_000)
    at = NOW + timedelta(days=100)
    # The vocabulary and the attribution lines are cached.
    search.search_restaurants(query, now=NOW)
    with costing(1):
        search.search_restaurants(query, now=NOW)
    with costing(3):
        search.search_restaurants(replace(query, open=at), now=NOW)
    with costing(6):
        search.search_restaurants(replace(query, open=at, include_total=True), now=NOW)


@pytest.mark.exhaustive
def test_more_candidates_than_the_limit_are_refused_naming_what_to_narrow() -> None:
    closed = builders.week("10:00", "11:00")
    others = [builders.unsaved(hours=closed) for _ in range(later_moments.MAX_CANDIDATES - 1)]
    Restaurant.objects.bulk_create(others, batch_size=1000)
    builders.restaurant(name="open", hours=builders.week("12:00", "13:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    moment = datetime.fromisoformat("2027-06-15T12:30:00+02:00")
    page = search.search_restaurants(Query(open=moment, market="copenhagen", include_total=True), now=NOW)
    assert [hit.name for hit in page.hits] == ["open"]
    assert page.total is not None
    assert page.total.to_dict() == {"value": 1, "relation": "eq"}
    builders.restaurant(hours=closed)
    for question in ({}, {"include_total": True}):
        error = refused(open=moment, market="copenhagen", **question)
        assert (error.param, error.message) == (
            "open",
            "Opening hours beyond the next 14 days are evaluated for at most 2,000 restaurants in one request, and"
            " this search has more. Narrow it by `radius`, `neighborhood`, `cuisine` or `q`, or leave `include_total`"
            " and `facets` out.",
        )


def test_rest_and_tools_answer_for_a_later_moment(client: Client) -> None:
    builders.restaurant(slug="summer", hours=osm("Jun-Aug Mo-Su 10:00-20:00"))
    builders.restaurant(slug="winter", hours=osm("Dec-Feb Mo-Su 10:00-20:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    with time_machine.travel(NOW, tick=False):
        body = client.get("/v1/restaurants", {"open": "2027-06-15T12:00", "market": "copenhagen"}).json()
        assert [hit["slug"] for hit in body["data"]] == ["summer"]
        assert body["query"]["open_at"] == "2027-06-15T10:00:00Z"
        told = content_of(call(client, "search_restaurants", open="2027-06-15T12:00", market="copenhagen"))
        assert [hit["slug"] for hit in told["data"]] == ["summer"]
        beyond = client.get("/v1/restaurants", {"open": "2027-11-22T12:00", "market": "copenhagen"})
        assert (beyond.status_code, beyond.json()["error"]["param"]) == (400, "open")
