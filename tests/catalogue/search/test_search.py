"""What a search finds, and what a hit carries."""

from datetime import UTC, datetime, time, timedelta
from random import Random
from typing import Any

import pytest

from catalogue import reference_data, search
from catalogue.hours import open_intervals
from catalogue.models import Cuisine, Restaurant, SearchRow
from catalogue.search import Facet, Hit, Query
from catalogue.search.geocoding import distance
from catalogue.search.geocoding.distance import Location
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.catalogue.search.search_requests import find, names, refused, walk
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db


# Place
def walked(hit: Hit) -> list[int | None]:
    """What a hit says of the way to it."""
    return [hit.values[name] for name in ("distance_m", "walking_distance_m", "walking_minutes")]


@pytest.mark.exhaustive
def test_the_nearest_order_is_that_of_the_great_circle() -> None:
    random = Random(3)
    center = Location(*TIVOLI)
    Restaurant.objects.bulk_create(
        builders.unsaved(
            latitude=center.lat + random.uniform(-0.2, 0.2), longitude=center.lng + random.uniform(-0.35, 0.35)
        )
        for _ in range(500)
    )
    away = {
        place.slug: distance.distance_m(center, Location(place.latitude or 0, place.longitude or 0))
        for place in Restaurant.objects.all()
    }
    for radius in (1_500, 5_000, 20_000):
        expected = sorted((slug for slug in away if away[slug] <= radius), key=lambda slug: away[slug])
        found = [hit for page in walk(Query(ll=TIVOLI, radius=radius, limit=7)) for hit in page]
        assert [hit.slug for hit in found] == expected
        assert [hit.values["distance_m"] for hit in found] == [round(away[slug]) for slug in expected]
    assert len(expected) > 300


def test_a_hit_carries_the_walk_from_the_reference_point() -> None:
    builders.restaurant(latitude=TIVOLI[0] + 0.0044247, longitude=TIVOLI[1])
    hit = find(ll=TIVOLI)[0]
    assert walked(hit) == [492, 640, 8]


def test_without_a_reference_point_there_is_no_distance() -> None:
    builders.restaurant()
    hit = find()[0]
    assert walked(hit) == [None, None, None]


def test_near_reaches_fifteen_hundred_metres_unless_a_radius_is_given() -> None:
    builders.restaurant(name="in", latitude=TIVOLI[0] + 0.0134)
    builders.restaurant(name="out", latitude=TIVOLI[0] + 0.0136)
    builders.landmark("Tivoli", market="copenhagen")
    assert names(near="tivoli") == ["in"]
    assert names(near="tivoli", radius=1_600) == ["in", "out"]


def test_nothing_in_reach_is_an_empty_list() -> None:
    builders.restaurant(latitude=56.5)
    builders.landmark("Tivoli", market="copenhagen")
    page = search.search_restaurants(Query(near="tivoli"), now=NOW)
    assert (page.hits, page.next_cursor, page.attribution) == ([], None, [])
    assert page.resolved is not None


def test_the_answer_says_what_near_was_taken_to_mean() -> None:
    builders.landmark("Chinatown", market="london", prominence=40)
    builders.landmark("Chinatown", market="singapore", prominence=80)
    page = search.search_restaurants(Query(near="Chinatown"), now=NOW)
    assert page.near == "Chinatown"
    assert page.resolved is not None
    assert (page.resolved.name, page.resolved.market) == ("Chinatown", "singapore")
    assert [place.market for place in page.alternatives] == ["london"]


def test_a_restaurant_without_a_location_is_found_by_words_and_never_by_place() -> None:
    builders.restaurant(name="Nowhere", latitude=None, longitude=None)
    assert names(ll=TIVOLI, radius=20_000) == []
    hit = find(q="nowhere")[0]
    assert hit.values["location"] is None


@pytest.mark.parametrize(
    ("status", "listed"),
    [
        ("open", True),
        ("unverified", True),
        ("temporarily_closed", True),
        ("permanently_closed", False),
        ("moved", False),
    ],
)
def test_what_has_closed_for_good_is_not_listed(status: str, listed: bool) -> None:
    builders.restaurant(status=status)
    assert len(find(ll=TIVOLI)) == listed
    assert len(find(q="place")) == listed


# Words
def test_the_whole_name_goes_before_its_words_and_these_before_the_cuisine() -> None:
    builders.restaurant(name="Harbour", cuisines=["pizza"], review_count=900)
    builders.restaurant(name="Old Pizza House", review_count=500)
    builders.restaurant(name="Pizza", review_count=1)
    builders.restaurant(name="New Pizza House", review_count=600)
    assert names(q="pizza") == ["Pizza", "New Pizza House", "Old Pizza House", "Harbour"]


def test_the_last_word_may_be_unfinished() -> None:
    builders.restaurant(name="Kødbyens Fiskebar")
    assert names(q="fisk") == ["Kødbyens Fiskebar"]
    assert names(q="kodbyens fi") == ["Kødbyens Fiskebar"]


def test_single_letter_is_a_word_and_not_a_prefix() -> None:
    builders.restaurant(name="Noma")
    builders.restaurant(name="Plan B")
    assert names(q="n") == []
    assert names(q="b") == names(q="plan b") == ["Plan B"]
    assert names(q="no") == ["Noma"]


def test_one_sign_of_a_word_in_chinese_may_begin_it() -> None:
    builders.restaurant(name="鮨さいとう")
    assert names(q="鮨") == ["鮨さいとう"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("q", ["Hot pot", "hotpot", "hot-pot", "Hot Pots", "HOT  POT"])
def test_a_cuisine_is_found_by_its_label(q: str) -> None:
    reference_data.load_reference_data()
    builders.restaurant(name="A", cuisines=["hotpot"])
    builders.restaurant(name="Hot Pot House", cuisines=["chinese"])
    builders.restaurant(name="B", cuisines=["chinese"])
    assert set(names(q=q)) - {"Hot Pot House"} == {"A"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("q", ["Crêpes", "crepes", "Burgers", "Noodles", "Steakhouse", "Doughnuts", "Steakhuose"])
def test_the_labels_of_cuisines_are_no_slugs(q: str) -> None:
    reference_data.load_reference_data()
    slugs = dict(Cuisine.objects.values_list("label", "slug"))
    label = {"crepes": "Crêpes", "Steakhuose": "Steakhouse"}.get(q, q)
    builders.restaurant(name="A", cuisines=[slugs[label]])
    builders.restaurant(name="B", cuisines=["danish"])
    assert names(q=q) == ["A"]


def test_a_cuisine_may_stand_among_other_words_that_then_count_too() -> None:
    builders.cuisine("burger")
    builders.restaurant(name="A", cuisines=["burger"], neighborhood="Vesterbro")
    builders.restaurant(name="B", cuisines=["burger"], neighborhood="Nørrebro")
    builders.restaurant(name="Burgers Vesterbro", cuisines=[])
    assert names(q="burgers vesterbro") == ["Burgers Vesterbro", "A"]


@pytest.mark.parametrize("q", ["kodbyens fiskebra", "fiskebarr", "KØDBYENS  FISKBAR", "kødbyenz"])
def test_a_misspelt_name_is_found(q: str) -> None:
    builders.restaurant(name="Kødbyens Fiskebar")
    builders.restaurant(name="Noma")
    assert names(q=q) == ["Kødbyens Fiskebar"]


def test_words_are_found_in_other_names_and_the_neighborhood() -> None:
    builders.restaurant(name="A", alt_names=["Fiskehuset"])
    builders.restaurant(name="B", neighborhood="Nørrebro")
    assert names(q="fiskehuset") == ["A"]
    assert names(q="norrebro") == ["B"]


@pytest.mark.exhaustive
def test_misspelt_names_are_tried_only_when_no_word_matches() -> None:
    builders.restaurant(name="Sushi Bar")
    builders.restaurant(name="Sushy Bar")
    assert names(q="sushi bar") == ["Sushi Bar"]


def test_pages_of_misspelt_names_follow_one_another() -> None:
    Restaurant.objects.bulk_create(builders.unsaved(name=f"Fiskebar {letter}") for letter in "ABCDE")
    found = [hit.name for page in walk(Query(q="fiskebra", limit=2)) for hit in page]
    assert sorted(found) == [f"Fiskebar {letter}" for letter in "ABCDE"]


@pytest.mark.parametrize("q", ["!!!", "'", "a:*", "((", "| & !", "\\", "%", "½", "😀", "%s", "<->", "a'b"])
def test_signs_in_q_are_no_syntax(q: str) -> None:
    builders.restaurant(name="Noma", cuisines=[])
    assert names(q=q) == []


# Open
def test_open_now_keeps_the_open_ones_past_midnight_too() -> None:
    builders.restaurant(name="day", hours=builders.week("09:00", "17:00"))
    builders.restaurant(name="night", hours=builders.week("18:00", "03:00"))
    builders.restaurant(name="unknown")
    builders.restaurant(name="closed", hours=builders.week("00:00", "00:00"), status="temporarily_closed")
    open_intervals.refresh_open_intervals(now=NOW)
    assert names(open="now") == ["night"]
    assert names(datetime(2026, 11, 22, 1, 30, tzinfo=UTC), open="now") == ["night"]
    assert names(datetime(2026, 11, 22, 2, 0, tzinfo=UTC), open="now") == []
    assert names(datetime(2026, 11, 22, 8, 0, tzinfo=UTC), open="now") == ["day"]


def test_a_hit_says_whether_it_is_open_and_when_that_changes_on_its_own_clock() -> None:
    builders.restaurant(name="night", review_count=9, hours=builders.week("18:00", "03:00"))
    builders.restaurant(name="day", review_count=8, hours=builders.week("09:00", "17:00"))
    builders.restaurant(name="always", review_count=7, hours=builders.week("00:00", "00:00"))
    builders.restaurant(
        name="closed", review_count=6, hours=builders.week("18:00", "03:00"), status="temporarily_closed"
    )
    builders.restaurant(name="unknown", review_count=5)
    open_intervals.refresh_open_intervals(now=NOW)
    assert [(hit.name, hit.values["open_now"], hit.values["next_change"]) for hit in find()] == [
        ("night", True, "2026-11-22T03:00:00+01:00"),
        ("day", False, "2026-11-22T09:00:00+01:00"),
        ("always", True, None),
        ("closed", False, None),
        ("unknown", None, None),
    ]


def test_spans_that_have_run_out_say_nothing() -> None:
    builders.restaurant(hours=builders.week("18:00", "03:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    hit = find(NOW + timedelta(days=16))[0]
    assert (hit.values["open_now"], hit.values["next_change"]) == (None, None)


def test_hours_of_special_days_alone_say_nothing_after_the_last_of_them() -> None:
    special = {"date": "2026-11-21", "periods": [{"open": "12:00", "close": "20:00"}]}
    builders.restaurant(hours={"timezone": "Europe/Copenhagen", "special_days": [special]})
    open_intervals.refresh_open_intervals(now=NOW)
    assert [find(NOW + timedelta(hours=hours))[0].values["open_now"] for hours in (0, 4, 6)] == [True, False, None]


def test_closure_applies_before_the_open_intervals_are_recomputed() -> None:
    builders.restaurant(hours=builders.week("18:00", "03:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    Restaurant.objects.update(status="temporarily_closed")
    assert SearchRow.objects.get().intervals_until is None
    assert find(open="now") == []
    assert find()[0].values["open_now"] is False


def test_a_time_of_day_is_the_next_one_on_the_clock_of_the_place() -> None:
    builders.market("tokyo", timezone="Asia/Tokyo", latitude=35.68, longitude=139.69)
    builders.market("copenhagen")
    assert search.search_restaurants(Query(ll=TIVOLI, open=time(19, 30)), now=NOW).open_at == datetime(
        2026, 11, 21, 18, 30, tzinfo=UTC
    )
    assert search.search_restaurants(Query(ll=TIVOLI, open=time(19, 0)), now=NOW).open_at == NOW
    assert search.search_restaurants(Query(ll=TIVOLI, open=time(1, 0)), now=NOW).open_at == datetime(
        2026, 11, 22, 0, 0, tzinfo=UTC
    )
    assert search.search_restaurants(Query(market="tokyo", open=time(12, 0)), now=NOW).open_at == datetime(
        2026, 11, 22, 3, 0, tzinfo=UTC
    )


def test_a_moment_without_an_offset_is_on_the_clock_of_the_place() -> None:
    builders.market("tokyo", timezone="Asia/Tokyo", latitude=35.68, longitude=139.69)
    builders.market("copenhagen")
    evening = datetime(2026, 11, 23, 19, 30)  # noqa: DTZ001  # on the clock of a place
    assert search.search_restaurants(Query(ll=TIVOLI, open=evening), now=NOW).open_at == datetime(
        2026, 11, 23, 18, 30, tzinfo=UTC
    )
    assert search.search_restaurants(Query(market="tokyo", open=evening), now=NOW).open_at == datetime(
        2026, 11, 23, 10, 30, tzinfo=UTC
    )
    for place in ({"ll": TIVOLI}, {"market": "tokyo"}):
        for far in (evening.replace(year=9999), evening.replace(year=1), evening.replace(year=2027)):
            assert refused(open=far, **place).param == "open"
    assert "needs a place for its time zone" in refused(open=evening).message


def test_a_time_of_day_that_the_clock_skips_is_the_moment_of_the_skip() -> None:
    builders.market("copenhagen")
    eve = datetime(2027, 3, 27, 20, 0, tzinfo=UTC)
    assert search.search_restaurants(Query(ll=TIVOLI, open=time(2, 30)), now=eve).open_at == datetime(
        2027, 3, 28, 1, 0, tzinfo=UTC
    )


# What a hit carries
def test_a_hit_carries_what_is_known_and_none_for_the_rest() -> None:
    builders.restaurant(
        slug="kodbyens-fiskebar",
        name="Kødbyens Fiskebar",
        neighborhood="Vesterbro",
        rating="4.5",
        review_count=812,
        price_level=3,
        cuisines=["seafood", "danish"],
        phone="+4532155656",
    )
    builders.restaurant(cuisines=[])
    full, bare = find()
    assert full.values == {
        "slug": "kodbyens-fiskebar",
        "name": "Kødbyens Fiskebar",
        "neighborhood": "Vesterbro",
        "market": "copenhagen",
        "rating": 4.5,
        "review_count": 812,
        "price_level": 3,
        "cuisine": "Seafood",
        "cuisines": ["seafood", "danish"],
        "phone": "+4532155656",
        "city": "Copenhagen",
        "country": "DK",
        "walking_distance_m": None,
        "walking_minutes": None,
        "distance_m": None,
        "open_now": None,
        "next_change": None,
        "flow_offer": None,
        "location": {"lat": TIVOLI[0], "lng": TIVOLI[1]},
    }
    assert [
        bare.values[name] for name in ("neighborhood", "rating", "price_level", "cuisine", "cuisines", "phone")
    ] == [
        None,
        None,
        None,
        None,
        [],
        None,
    ]


def test_each_source_of_the_hits_is_attributed_once() -> None:
    builders.listed(builders.restaurant(), "osm")
    second = builders.restaurant()
    builders.listed(second, "osm")
    builders.listed(second, "demo")
    builders.listed(builders.restaurant(status="moved"), "wikidata")
    page = search.search_restaurants(Query(), now=NOW)
    assert [(line["source"], line["text"], line["license"]) for line in page.attribution] == [
        ("demo", "© demo", "ODbL-1.0"),
        ("osm", "© osm", "ODbL-1.0"),
    ]


# Cost
@pytest.mark.exhaustive
def test_a_page_costs_few_queries_whatever_its_length() -> None:
    builders.landmark("Tivoli", market="copenhagen")
    builders.attribute("wheelchair")
    for number in range(30):
        place = builders.restaurant(
            hours=builders.week("00:00", "00:00"),
            attributes={"wheelchair": True},
            latitude=TIVOLI[0] + number / 10_000,
        )
        builders.listed(place)
    open_intervals.refresh_open_intervals(now=NOW)
    # The hits with their offers, and the sources, which a process remembers outside of tests.
    with costing(2):
        assert len(find()) == 20
    with costing(2):
        assert len(find(ll=TIVOLI)) == 20
    everything: dict[str, Any] = {
        "near": "tivoli",
        "open": "now",
        "cuisine": ("seafood",),
        "market": "copenhagen",
        "q": "pl",
        "attributes": ("wheelchair",),
        "lang": "da",
        "facets": tuple(Facet),
        "include_total": True,
    }
    # With words, three for the names of the catalogue, which a process remembers outside of tests.
    with costing(10):
        assert len(find(**everything, limit=30)) == 30
    # Words match nothing, then letters are tried. Inside a test their transaction is a savepoint: two more.
    with costing(10):
        assert len(find(q="plaze")) == 20


@pytest.mark.exhaustive
def test_where_many_are_at_one_place_a_page_may_cost_a_query_more() -> None:
    Restaurant.objects.bulk_create(builders.unsaved() for _ in range(130))
    with costing(3):
        assert len(find(ll=TIVOLI)) == 20
    found = [hit.slug for page in walk(Query(ll=TIVOLI, limit=9)) for hit in page]
    assert (len(found), len(set(found))) == (130, 130)


def test_an_attribute_that_is_limited_does_not_count() -> None:
    builders.attribute("wheelchair")
    builders.restaurant(name="Step", attributes={"wheelchair": "limited"})
    builders.restaurant(name="Ramp", attributes={"wheelchair": True})
    builders.restaurant(name="Lift", attributes={"wheelchair": "designated"})
    assert set(names(attributes=("wheelchair",))) == {"Ramp", "Lift"}
