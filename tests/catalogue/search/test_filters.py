"""Every filter, order and count of a search, against a reference in Python."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import count
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from catalogue import reference_data, search
from catalogue.hours import open_intervals
from catalogue.models import FlowSlot, Restaurant, SearchRow
from catalogue.search import BoundingBox, Facet, Query, Sort
from catalogue.search.geocoding import distance as geocoding_distance
from catalogue.search.geocoding.distance import Location
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.catalogue.search.search_requests import walk

pytestmark = pytest.mark.django_db

CUISINES = ["seafood", "danish", "sushi", "pizza"]
TAGS = ["outdoor_seating", "wheelchair", "diet_vegan", "diet_halal"]
BOX = BoundingBox(12.55, 55.66, 12.58, 55.68)
DISHES = {"Kødbyens": "kodbyens", "Grill": "grill", "Noma": "noma"}


def world(random: Random, *, size: int, reach: float = 0.02) -> list[Restaurant]:
    """Restaurants of all kinds within some km of Tivoli."""
    markets = [builders.market("copenhagen"), builders.market("malmo")]
    for slug in CUISINES:
        builders.cuisine(slug)
    for key in TAGS:
        builders.attribute(key)
    made = [
        builders.unsaved(
            name=f"{random.choice(list(DISHES))} {number}",
            market=random.choice(markets),
            neighborhood=random.choice(["Vesterbro", "Nørrebro", "Indre By", None]),
            cuisines=[],
            price_level=random.choice([None, 1, 2, 3, 4]),
            rating=random.choice([None, *(Decimal(tenths) / 10 for tenths in range(10, 51))]),
            review_count=random.choice([0, 0, 5, 5, 100, 2000]),
            latitude=TIVOLI[0] + random.uniform(-reach, reach),
            longitude=TIVOLI[1] + random.uniform(-reach * 1.7, reach * 1.7),
            hours=random.choice([None, builders.week("09:00", "17:00"), builders.week("18:00", "02:00")]),
            attributes={tag: random.choice([True, False]) for tag in random.sample(TAGS, k=random.randint(0, 4))},
            status=random.choice(["open", "open", "unverified", "temporarily_closed"]),
        )
        for number in range(size)
    ]
    for place in made:
        place.cuisines = random.sample(CUISINES, k=random.randint(0, 3))
        place.cuisine_id = place.cuisines[0] if place.cuisines else None
    Restaurant.objects.bulk_create(made, batch_size=1000)
    open_intervals.refresh_open_intervals(now=NOW)
    return made


def metres(place: Restaurant) -> float:
    """From Tivoli."""
    return geocoding_distance.distance_m(Location(*TIVOLI), Location(place.latitude or 0, place.longitude or 0))


def is_night(place: Restaurant) -> bool:
    """Whether it is open from 18:00 to 02:00."""
    return (
        place.status != "temporarily_closed"
        and place.hours is not None
        and place.hours["periods"][0]["open"]["time"] == "18:00"
    )


def tags(place: Restaurant) -> set[str]:
    """What it has."""
    return {tag for tag, has in place.attributes.items() if has}


def in_box(place: Restaurant) -> bool:
    """Whether it lies in the box."""
    return BOX.west <= (place.longitude or 0) <= BOX.east and BOX.south <= (place.latitude or 0) <= BOX.north


Reference = dict[str, tuple[dict[str, Any], Callable[[Restaurant], object]]]
REFERENCE: Reference = {
    "market": ({"market": "malmo"}, lambda place: place.market_id == "malmo"),
    "neighborhood": ({"neighborhood": "norrebro"}, lambda place: place.neighborhood == "Nørrebro"),
    "two words": ({"neighborhood": "indre by"}, lambda place: place.neighborhood == "Indre By"),
    "q": ({"q": "kodb"}, lambda place: place.name.startswith("Kødbyens")),
    "open": ({"open": "now"}, is_night),
    # It is 19:00 in Copenhagen.
    "open_for": ({"open": "now", "open_for": 7 * 60}, is_night),
    "too long": ({"open": "now", "open_for": 7 * 60 + 1}, lambda place: False),
    "cuisine": ({"cuisine": ("sushi", "pizza")}, lambda place: {"sushi", "pizza"} & set(place.cuisines)),
    "one cuisine": ({"cuisine": ("danish",)}, lambda place: "danish" in place.cuisines),
    "cuisine_not": ({"cuisine_not": ("seafood",)}, lambda place: "seafood" not in place.cuisines),
    "attributes": (
        {"attributes": ("wheelchair", "outdoor_seating")},
        lambda place: tags(place) >= {"wheelchair", "outdoor_seating"},
    ),
    "diet": ({"diet": ("vegan",)}, lambda place: "diet_vegan" in tags(place)),
    "diets": ({"diet": ("vegan", "halal")}, lambda place: tags(place) >= {"diet_vegan", "diet_halal"}),
    "price": ({"price": (2, 4)}, lambda place: place.price_level in (2, 4)),
    "price_max": ({"price_max": 3}, lambda place: place.price_level is not None and place.price_level <= 3),
    "rating_min": (
        {"rating_min": Decimal("3.7")},
        lambda place: place.rating is not None and place.rating >= Decimal("3.7"),
    ),
    "reviews_min": ({"reviews_min": 5}, lambda place: place.review_count >= 5),
    "ll": ({"ll": TIVOLI}, lambda place: metres(place) <= 1_500),
    "radius": ({"ll": TIVOLI, "radius": 700}, lambda place: metres(place) <= 700),
    "bbox": ({"bbox": BOX}, in_box),
    "bbox from a point": ({"bbox": BOX, "ll": TIVOLI}, in_box),
}


def order(query: Query) -> Callable[[Restaurant], Any]:
    """The sort key of what is asked; `q` is in names alone, so all are equally relevant."""
    by_distance = query.sort is Sort.BEST and query.ll and not query.q
    if query.sort is Sort.DISTANCE or by_distance:
        return lambda place: (metres(place), place.pk)
    if query.sort is Sort.RATING:
        return lambda place: (-(place.rating or 0), -place.review_count, place.pk)
    return lambda place: (-place.review_count, place.pk)


def questions(random: Random, *, several: int) -> Iterable[list[str]]:
    """Each filter alone, then some at once; of filters that set the same parameter the later counts."""
    yield from ([name] for name in REFERENCE)
    for _ in range(several):
        yield random.sample(sorted(REFERENCE), k=random.randint(2, 4))


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [1_000, pytest.param(5_000, marks=pytest.mark.deep)])
def test_each_filter_and_several_at_once_find_what_the_words_say_in_each_order(size: int) -> None:
    random = Random(4)
    places = world(random, size=size)
    sizes = set()
    for chosen in questions(random, several=40):
        given: dict[str, Any] = {}
        for name in chosen:
            given |= REFERENCE[name][0]
        if "bbox" in given and "radius" in given:
            continue
        # Where two chosen ones set one parameter only the later is asked.
        asked = [name for name in chosen if REFERENCE[name][0].items() <= given.items()]
        if "radius" in given:
            asked = [name for name in asked if name != "ll"]
        if "bbox" in given:
            asked = [name for name in asked if name != "ll"]
        sorts = [Sort.BEST, Sort.REVIEWS, Sort.RATING, *([Sort.DISTANCE] if "ll" in given else [])]
        query = Query(**given, sort=random.choice(sorts), limit=50, include_total=True, facets=())
        remaining = [place for place in places if all(REFERENCE[name][1](place) for name in asked)]
        expected = [place.slug for place in sorted(remaining, key=order(query))]
        page = search.search_restaurants(query, now=NOW)
        assert [hit.slug for hit in page.hits] == expected[:50], (chosen, query)
        assert page.total is not None
        assert (page.total.value, page.total.is_exact) == (len(expected), True), (chosen, query)
        if len(expected) < 150:
            assert [hit.slug for hits in walk(query) for hit in hits] == expected, (chosen, query)
        sizes.add(len(expected))
    assert len(sizes) > 20
    _facets_count_all_that_match(places)


def _facets_count_all_that_match(places: list[Restaurant]) -> None:
    query = Query(ll=TIVOLI, price_max=3, limit=1, facets=tuple(Facet))
    facets = search.search_restaurants(query, now=NOW).facets
    remaining = [place for place in places if metres(place) <= 1_500 and (place.price_level or 9) <= 3]
    assert facets is not None
    assert (facets.counted.value, facets.counted.is_exact) == (len(remaining), True)
    found = {name: {bucket.value: bucket.count for bucket in buckets} for name, buckets in facets.counts.items()}
    assert found == {
        "cuisine": Counter(cuisine for place in remaining for cuisine in place.cuisines),
        "price": Counter(str(place.price_level) for place in remaining),
        "rating": {
            minimum: sum(place.rating is not None and place.rating >= Decimal(minimum) for place in remaining)
            for minimum in ("4.5", "4.0", "3.5", "3.0")
        },
        "neighborhood": Counter(str(place.neighborhood) for place in remaining if place.neighborhood),
        "attributes": Counter(tag for place in remaining for tag in tags(place)),
        "open_now": {"now": sum(is_night(place) for place in remaining)},
        "market": Counter(place.market_id for place in remaining),
    }
    assert [bucket.label for bucket in facets.counts["market"] if bucket.value == "malmo"] == ["Malmo"]
    assert [bucket.label for bucket in facets.counts["cuisine"] if bucket.value == "pizza"] == ["Pizza"]
    counts = [bucket.count for bucket in facets.counts["cuisine"]]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("points", [100, pytest.param(1_000, marks=pytest.mark.deep)])
def test_the_nearest_of_many_points_are_those_of_the_great_circle(points: int) -> None:
    random = Random(6)
    places = world(random, size=3 * points, reach=0.05)
    by_latitude = sorted((place.latitude or 0, place.longitude or 0, place.pk, place.slug) for place in places)
    latitudes = [each[0] for each in by_latitude]
    # A degree of latitude is longer than 111 km, so nothing outside of this band is within the radius.
    band = 1_500 / 111_000
    for _ in range(points):
        point = (TIVOLI[0] + random.uniform(-0.05, 0.05), TIVOLI[1] + random.uniform(-0.085, 0.085))
        about = by_latitude[bisect_left(latitudes, point[0] - band) : bisect_right(latitudes, point[0] + band)]
        away = sorted(
            (geocoding_distance.distance_m(Location(*point), Location(lat, lng)), key, slug)
            for lat, lng, key, slug in about
        )
        expected = [slug for distance, _, slug in away if distance <= 1_500][:20]
        assert [hit.slug for hit in search.search_restaurants(Query(ll=point), now=NOW).hits] == expected


@pytest.mark.exhaustive
def test_an_offer_fits_by_day_time_party_and_percent() -> None:
    places = {name: builders.restaurant(name=name) for name in ("a", "b", "c", "d", "shut", "unlisted")}
    for name, place in places.items():
        if name != "unlisted":
            builders.listing(place)
    tomorrow = timedelta(days=1)
    # On the clock of Copenhagen: today at 20:00, tomorrow at 18:00, at 20:00 and at 21:31.
    builders.slot(places["a"], starts_at=NOW + timedelta(hours=1), percent=20)
    builders.slot(places["b"], starts_at=NOW + tomorrow - timedelta(hours=1), percent=30)
    builders.slot(places["c"], starts_at=NOW + tomorrow + timedelta(hours=1), percent=40, party_min=2, party_max=4)
    builders.slot(places["c"], starts_at=NOW + tomorrow + timedelta(hours=2), percent=50, seats=2, party_max=2)
    builders.slot(places["d"], starts_at=NOW + tomorrow + timedelta(minutes=151), percent=15, seats_left=1)
    builders.slot(places["d"], starts_at=NOW + tomorrow, percent=15, withdrawn_at=NOW)
    builders.slot(places["d"], starts_at=NOW + tomorrow, percent=16, seats_left=0)
    builders.slot(places["d"], starts_at=NOW + tomorrow, percent=17, book_before=NOW)
    builders.slot(places["d"], starts_at=NOW + tomorrow, percent=18, bookable_from=NOW + timedelta(seconds=1))
    builders.slot(places["shut"], starts_at=NOW + tomorrow)
    builders.slot(places["unlisted"], starts_at=NOW + tomorrow)
    Restaurant.objects.filter(name="shut").update(status="temporarily_closed")

    def found(**asked: Any) -> list[str]:
        hits = [hit for hits in walk(Query(**asked, limit=1)) for hit in hits]
        return sorted(f"{hit.name}{hit.values['flow_offer']['percent']}" for hit in hits)

    sunday = date(2026, 11, 22)
    assert found(offer="any") == found(sort=Sort.REVIEWS, offer="any") == ["a20", "b30", "c40", "d15"]
    assert found(offer_min=30) == ["b30", "c40"]
    assert found(offer_min=41) == ["c50"]
    assert found(date=date(2026, 11, 21)) == ["a20"]
    assert found(date=sunday) == ["b30", "c40", "d15"]
    assert found(time=time(20, 0)) == ["a20", "c40"]
    assert found(date=sunday, time=time(19, 30)) == ["b30", "c40"]
    assert found(date=sunday, time=time(19, 31)) == ["c40"]
    assert found(date=sunday, time=time(20, 1)) == ["c40", "d15"]
    assert found(date=sunday, time=time(0, 15)) == []
    assert found(party_size=1) == ["a20", "b30", "c50", "d15"]
    assert found(party_size=2) == ["a20", "b30", "c40"]
    assert found(party_size=5) == ["a20", "b30"]
    assert found(party_size=9) == []
    assert found(ll=TIVOLI, offer="any", cuisine=("seafood",)) == ["a20", "b30", "c40", "d15"]
    highest = [
        (hit.name, hit.values["flow_offer"]["percent"])
        for hit in search.search_restaurants(Query(sort=Sort.OFFER), now=NOW).hits
    ]
    assert highest == [("c", 50), ("b", 30), ("a", 20), ("d", 15)]
    walked = [hit.name for hits in walk(Query(sort=Sort.OFFER, ll=TIVOLI, limit=1)) for hit in hits]
    assert walked == ["c", "b", "a", "d"]
    assert FlowSlot.objects.count() == 11


def test_dishes_of_the_insight_are_found_and_come_after_names() -> None:
    builders.restaurant(name="Ramen Bar", review_count=1)
    other = builders.restaurant(name="Noodle House", review_count=500)
    builders.insight(other, detail={"dishes": [{"name": "Tonkotsu Ramen"}]})
    assert [hit.name for hit in search.search_restaurants(Query(q="ramen"), now=NOW).hits] == [
        "Ramen Bar",
        "Noodle House",
    ]
    assert [hit.name for hit in search.search_restaurants(Query(q="tonkotsu"), now=NOW).hits] == ["Noodle House"]


@pytest.mark.exhaustive
def test_a_total_is_counted_to_a_bound() -> None:
    """Ten thousand restaurants are too many for a test: their rows are made by themselves."""
    place = builders.restaurant()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        remaining = [field for field in SearchRow._meta.fields if not (field.primary_key or field.generated)]
        columns = ", ".join(str(field.column) for field in remaining)
        cursor.execute(
            f"INSERT INTO catalogue_searchrow (restaurant_id, {columns}) SELECT gen_random_uuid(), {columns}"  # noqa: S608  # names of columns
            " FROM catalogue_searchrow, generate_series(1, 10000) WHERE restaurant_id = %s",
            [place.pk],
        )
    page = search.search_restaurants(Query(include_total=True), now=NOW)
    assert page.total is not None
    assert (page.total.value, page.total.is_exact) == (10_000, False)


@pytest.mark.exhaustive
def test_attributes_and_diets_have_degrees(client: Client) -> None:
    reference_data.load_dictionaries()
    for name, attributes in {
        "Full": {"wheelchair": True, "diet_gluten_free": True, "diet_vegan": "only"},
        "Limited": {"wheelchair": "limited", "diet_gluten_free": "limited", "diet_vegan": True},
        "None": {"wheelchair": False, "diet_gluten_free": "no"},
        "Roof": {"outdoor_seating": "roof", "wheelchair": "designated"},
    }.items():
        builders.restaurant(name=name, attributes=attributes)

    addresses = map("127.0.3.{}".format, count(1))

    def get(query: str) -> Any:
        # More calls than an address has in a minute.
        return client.get(f"/v1/restaurants?{query}", REMOTE_ADDR=next(addresses)).json()

    def found(query: str) -> list[str]:
        return sorted(hit["name"] for hit in get(query)["data"])

    assert found("attributes=wheelchair") == found("attributes=wheelchair:yes") == ["Full", "Roof"]
    assert found("attributes=wheelchair:limited") == ["Full", "Limited", "Roof"]
    assert found("attributes=wheelchair:limited&ll=55.6737,12.5681") == ["Full", "Limited", "Roof"]
    assert found("attributes=wheelchair:designated") == ["Roof"]
    assert found("attributes=outdoor_seating") == found("attributes=outdoor_seating:roof") == ["Roof"]
    assert found("diet=gluten_free:limited") == ["Full", "Limited"]
    assert found("diet=gluten_free:limited,vegan:only") == ["Full"]
    assert found("attributes=wheelchair:limited,diet_gluten_free:limited") == ["Full", "Limited"]
    facet = get("market=copenhagen&facets=attributes")["facets"]["attributes"]
    assert not any(":" in bucket["value"] for bucket in facet)
    error = get("attributes=wheelchair:partly")["error"]
    assert (error["param"], error["code"]) == ("attributes", "invalid_request")
    assert "`wheelchair:limited`" in error["message"]
    assert get("diet=vegn:only")["error"]["suggestions"] == ["vegan", "vegetarian"]
