"""The pages for people: the search, a restaurant, their addresses, their limits and what they cost."""

import math
import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from itertools import combinations
from typing import Any
from urllib.parse import quote

import orjson
import pytest
import time_machine
from django.conf import LazySettings
from django.db import connection
from django.test import Client, RequestFactory

from accounts.models import Venue
from catalogue import places
from catalogue.agent_discovery import x402_manifest
from catalogue.hours import open_intervals
from catalogue.models import Restaurant
from catalogue.public_pages import map as maps
from catalogue.public_pages.labels import DRAWINGS, TONES
from catalogue.public_pages.map import PIN_GAP, PIN_RADIUS, SIZE, spread
from framework.api.rate_limits.middleware import count_call
from payments.rate_limits import PAGES
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.support import builders as venues
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db

BASE = "https://tables.example.com"
NORTH = 0.001


@pytest.fixture(autouse=True)
def _saturday_evening(settings: LazySettings) -> Iterator[None]:
    settings.PUBLIC_BASE_URL = BASE
    with time_machine.travel(NOW, tick=False):
        yield


def fiskebar(**fields: Any) -> Restaurant:
    """A restaurant in Vesterbro that is open until 23:00."""
    given: dict[str, Any] = {
        "slug": "kodbyens-fiskebar",
        "name": "Kødbyens Fiskebar",
        "neighborhood": "Vesterbro",
        "line1": "Flæsketorvet 100",
        "postal_code": "1711",
        "locality": "København V",
        "rating": "4.5",
        "review_count": 812,
        "price_level": 3,
        "phone": "+4532155656",
        "website": "https://fiskebaren.dk",
        "hours": builders.week("17:30", "23:00"),
        "attributes": {"wheelchair": "limited", "outdoor_seating": True, "kind": "restaurant"},
        **fields,
    }
    for key in given["attributes"]:
        builders.attribute(key)
    place = builders.restaurant(**given)
    open_intervals.refresh_open_intervals(now=NOW)
    return place


COUNTRIES = {"aarhus": "DK", "copenhagen": "DK", "london": "GB"}


def text_of(response: Any) -> str:
    return unescape(response.content.decode())


def find(pattern: str, response: Any) -> list[Any]:
    return re.findall(pattern, response.content.decode())


def linked_data(response: Any) -> dict[str, Any]:
    (script,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', response.content.decode(), re.DOTALL)
    return orjson.loads(script)  # type: ignore[no-any-return]


# Search
def test_a_search_shows_what_the_api_finds_as_cards_and_pins(client: Client) -> None:
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    builders.landmark("Vesterbro", kind="neighborhood", at=(TIVOLI[0] + NORTH, TIVOLI[1] - 0.002))
    fiskebar(latitude=TIVOLI[0] + NORTH)
    builders.restaurant(name="Far away", slug="far-away", latitude=TIVOLI[0] + 4 * NORTH)
    response = client.get("/restaurants", {"near": "tivoli", "q": "", "price": ""})
    found = client.get("/v1/restaurants", {"near": "tivoli"}).json()["data"]
    assert find(r'<h3><a href="/restaurants/([^"]+)">', response) == [each["slug"] for each in found]
    assert find(r'<a class="pin tone\d" id="(m\d)" href="(#r\d)"', response) == [("m2", "#r2"), ("m1", "#r1")]
    assert find(r'<li class="restaurant" id="(r\d)">', response) == ["r1", "r2"]
    assert find(r'href="(#m\d)" aria-label="([^"]+)"', response) == [
        ("#m1", "1: Show on map: Kødbyens Fiskebar"),
        ("#m2", "2: Show on map: Far away"),
    ]
    text = text_of(response)
    for shown in ("Near <bdi>Tivoli Gardens", "★", "4.5", "(812 reviews)", "$$$", "111 m", "Open until 23:00"):
        assert shown in text
    assert "Hours not known" in text
    assert find(r'<text class="district-name"[^>]*><tspan>([^<]+)', response) == ["Vesterbro"]


def test_boxes_of_one_name_are_one_parameter_and_foreign_ones_are_ignored(client: Client) -> None:
    fiskebar()
    response = client.get("/restaurants?price=1&price=3&market=copenhagen&utm_source=mail&limit=1")
    assert response.status_code == 200
    assert find('name="price" value="(\\d)" checked', response) == ["1", "3"]
    assert find('<input type="hidden" name="market" value="([^"]+)">', response) == ["copenhagen"]
    # Another city, or all of them, with the same filters.
    cities = find('<nav class="cities".*?</nav>', response)
    assert re.findall(r'href="([^"]+)"', cities[0]) == [
        "/restaurants?price=1%2C3",
        "/restaurants?price=1%2C3&amp;market=copenhagen",
    ]
    assert "Kødbyens Fiskebar" in text_of(response)
    assert "Kødbyens Fiskebar" not in text_of(client.get("/restaurants?price=1&price=2"))


@pytest.mark.parametrize(
    ("query", "param"),
    [("cuisine=seafod", "cuisine"), ("open=25:00", "open"), ("rating_min=9", "rating_min")],
)
def test_what_the_api_refuses_is_said_at_its_field(client: Client, query: str, param: str) -> None:
    builders.cuisine()
    builders.market()
    response = client.get(f"/restaurants?{query}")
    (detail,) = client.get(f"/v1/restaurants?{query}").json()["error"]["details"]
    assert response.status_code == 400
    assert f'id="{param}-error" lang="en"><bdi>{detail["message"]}</bdi>' in text_of(response)
    assert find(f'aria-describedby="({param}-error)"', response) == [f"{param}-error"]
    assert response["Cache-Control"] == "private, no-store"


def test_a_city_without_restaurants_links_the_nearest_ones(client: Client) -> None:
    builders.market("copenhagen")
    builders.market("milan", country="IT", latitude=45.4642, longitude=9.19)
    response = client.get("/restaurants?near=rome&price=1")
    text = text_of(response)
    assert response.status_code == 404
    assert response["Cache-Control"] == "private, no-store"
    assert "<h2>No restaurants in Rome yet.</h2>" in text
    found = find(r'<a href="([^"]+)"><bdi>(\w+)</bdi> <span class="small quiet">([^<]+)</span>', response)
    assert [(unescape(url), name, distance) for url, name, distance in found] == [
        ("/restaurants?price=1&market=milan", "Milan", "479 km"),
        ("/restaurants?price=1&market=copenhagen", "Copenhagen", "1,533 km"),
    ]
    assert "outside of our markets" not in text
    # Both cities are shown above.
    assert '<nav class="cities"' not in text
    # The place stays in its field.
    assert find('name="near" value="([^"]*)"', response) == ["rome"]
    # As the guest calls it.
    assert "Ancora nessun ristorante a Roma." in text_of(client.get("/restaurants?near=roma&lang=it"))
    assert "<h2>Rome is outside Copenhagen.</h2>" in text_of(client.get("/restaurants?near=rome&market=copenhagen"))
    assert "<h2>Which city in Italy?</h2>" in text_of(client.get("/restaurants?near=italy"))
    assert "<h2>No restaurants in Norway yet.</h2>" in text_of(client.get("/restaurants?near=norway"))


def test_cities_that_are_not_the_nearest_ones_have_a_heading(client: Client) -> None:
    for slug, (lat, lng) in {"copenhagen": TIVOLI, "milan": (45.4642, 9.19), "paris": (48.8566, 2.3522)}.items():
        builders.market(slug, latitude=lat, longitude=lng)
    response = client.get("/restaurants?near=rome")
    nearest = find(r'<a href="[^"]+market=(\w+)"><bdi>\w+</bdi> <span', response)
    others = find(r'<a href="/restaurants\?market=(\w+)"><bdi>[^<]+</bdi></a>', response)
    assert "Other cities</h2>" in text_of(response)
    assert len(nearest) == 2
    assert sorted(nearest + others) == ["copenhagen", "milan", "paris"]


def test_a_place_without_restaurants_shows_those_of_the_nearest_city_and_no_filters(client: Client) -> None:
    milan = builders.market("milan", country="IT", latitude=45.4642, longitude=9.19)
    for number in range(4):
        builders.restaurant(slug=f"trattoria-{number}", market=milan)
    fiskebar()
    response = client.get("/restaurants?near=rome")
    text = text_of(response)
    assert 'id="popular">Popular in Milan</h2>' in text
    assert len(find(r'<h3><a href="/restaurants/(trattoria-\d)">', response)) == 4
    assert '<a class="button quiet" href="/restaurants?market=milan">Restaurants in Milan</a>' in text
    assert 'class="filters' not in text
    # A filter that is set can be taken away.
    assert 'class="filters' in text_of(client.get("/restaurants?near=rome&price=1"))


def test_every_drawing_has_a_colour() -> None:
    assert {*DRAWINGS.values(), "plate"} == TONES.keys()


def test_ratings_have_one_decimal(client: Client) -> None:
    place = fiskebar(rating=4)
    for path in ("/restaurants?q=Fiskebar", f"/restaurants/{place.slug}"):
        assert re.search(r"</span> 4\.0</span>", text_of(client.get(path))), path


def test_pins_that_overlap_are_moved_apart() -> None:
    places = spread([(200.0, 200.0), (200.0, 200.0), (203.0, 201.0), (350.0, 20.0), (12.0, 389.0), (12.0, 389.0)])
    assert places[3] == (350.0, 20.0)
    assert all(math.dist(one, other) > PIN_GAP - 1 for one, other in combinations(places, 2))
    assert all(PIN_RADIUS <= x <= SIZE - PIN_RADIUS for place in places for x in place)


def test_an_unknown_place_says_what_to_try(client: Client) -> None:
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    response = client.get("/restaurants?near=xyzzy")
    assert response.status_code == 404
    assert "<h2>We do not know “xyzzy”.</h2>" in text_of(response)
    assert "Try a landmark, a street or a neighbourhood, or choose a city." in text_of(response)
    similar = client.get("/restaurants?near=Tivoli+Garten")
    (names,) = [client.get("/v1/restaurants?near=Tivoli+Garten").json().get("error", {}).get("suggestions", [])]
    assert [unescape(name) for name in find('<a class="button quiet" href="[^"]+"><bdi>([^<]+)', similar)] == names


def test_without_parameters_there_are_restaurants_of_one_city(client: Client) -> None:
    for market in ("aarhus", "copenhagen", "london"):
        builders.restaurant(slug=f"in-{market}", market=builders.market(market, country=COUNTRIES[market]))

    def shown(**header: str) -> list[str]:
        return find(r'<h3><a href="/restaurants/([^"?]+)', client.get("/restaurants", headers=header))

    # The country of the browser, else that of the language, else the first of the alphabet.
    assert shown() == ["in-london"]
    assert shown(**{"Accept-Language": "en-GB"}) == ["in-london"]
    assert shown(**{"Accept-Language": "da"}) == ["in-aarhus"]
    assert shown(**{"Accept-Language": "de-DE"}) == ["in-aarhus"]
    response = client.get("/restaurants?lang=da", headers={"Accept-Language": "en-GB"})
    assert find(r'<h3><a href="/restaurants/([^"?]+)', response) == ["in-aarhus"]
    # The city that is shown is the first of the links, and marked.
    cities = find('<nav class="cities".*?<a href="([^"]+)" aria-current="true">', response)
    assert cities == ["/restaurants?market=aarhus&amp;lang=da"]


def test_words_that_name_a_cuisine_are_read_as_its_name(client: Client) -> None:
    fiskebar()
    text = text_of(client.get("/restaurants?q=seafood"))
    assert '<span class="badge soft">Cuisine: <bdi>Seafood</bdi></span>' in text


def test_a_card_says_the_city_where_the_page_is_of_several(client: Client) -> None:
    fiskebar()
    assert "<bdi>Vesterbro</bdi>" in text_of(client.get("/restaurants?market=copenhagen"))
    assert "<bdi>Vesterbro, Copenhagen</bdi>" in text_of(client.get("/restaurants?price=3"))


def test_a_misspelt_name_links_what_was_meant(client: Client) -> None:
    builders.cuisine()
    response = client.get("/restaurants?cuisine=seafod&price=1")
    assert 'Did you mean <a href="/restaurants?cuisine=seafood&price=1"><bdi>seafood' in text_of(response)


def test_pages_follow_one_another_and_a_foreign_cursor_is_refused(client: Client) -> None:
    for number in range(21):
        builders.restaurant(review_count=number)
    first = client.get("/restaurants?market=copenhagen")
    (url,) = find('<a class="button" href="([^"]+)" rel="next nofollow">', first)
    second = client.get(unescape(url))
    slugs = find(r'<h3><a href="/restaurants/([^"]+)">', first) + find(r'<h3><a href="/restaurants/([^"]+)">', second)
    assert len(set(slugs)) == len(slugs) == 21
    assert '<a class="button quiet" href="/restaurants?market=copenhagen">First page' in text_of(second)
    assert 'content="noindex, follow"' in text_of(second)
    refused = client.get("/restaurants?market=copenhagen&cursor=x")
    assert refused.status_code == 400
    assert 'role="alert" lang="en"><bdi>' in text_of(refused)


def test_an_empty_page_says_what_there_is_without_each_filter(client: Client) -> None:
    fiskebar()
    text = text_of(client.get("/restaurants?market=copenhagen&rating_min=4.9"))
    assert "No restaurant matches all of this." in text
    assert '<a href="/restaurants?market=copenhagen">Without the filter “Rating”: 1</a>' in text


def test_hits_of_several_cities_have_no_map(client: Client) -> None:
    fiskebar()
    builders.restaurant(latitude=TIVOLI[0] + 0.4, market=builders.market("elsinore"))
    assert 'class="map"' not in text_of(client.get("/restaurants?sort=rating"))
    assert 'class="map"' in text_of(client.get("/restaurants?market=elsinore"))


def test_a_map_has_the_20_best_known_districts(client: Client) -> None:
    fiskebar()
    for number in range(22):
        at = TIVOLI[0] + NORTH * (number // 5 - 2), TIVOLI[1] + NORTH * (number % 5 - 2)
        builders.landmark(f"Area {number}", kind="neighborhood", at=at)
    assert len(find('<polygon class="district', client.get("/restaurants/kodbyens-fiskebar"))) == 20


def test_each_district_has_what_is_nearest_to_its_centre() -> None:
    west, east = (maps.Mark(x, 200, name, name, source="osm") for x, name in ((100, "West"), (200, "East")))
    assert [district.points for district in maps.divide([west, east])] == [
        "0.0,0.0 150.0,0.0 150.0,400.0 0.0,400.0",
        "150.0,0.0 400.0,0.0 400.0,400.0 150.0,400.0",
    ]


# A restaurant
def test_a_page_shows_the_free_fields_of_the_record(client: Client, user_venue: Venue) -> None:
    place = fiskebar()
    builders.restaurant(name="Next door", slug="next-door", latitude=TIVOLI[0] + NORTH)
    builders.review(place, text="The turbot was divine.")
    builders.photo(place)
    builders.listing(place, user_venue)
    builders.slot(place, starts_at=NOW + timedelta(hours=1))
    response = client.get("/restaurants/kodbyens-fiskebar")
    text = text_of(response)
    assert "<title>Kødbyens Fiskebar · Copenhagen</title>" in text
    for shown in (
        "Flæsketorvet 100, 1711 København V, DK",
        'href="tel:+4532155656"',
        'href="https://fiskebaren.dk"',
        "Open until 23:00",
        "17:30 - 23:00",
        "Wheelchair access",
        "(limited)",
        "Next door",
        f'href="/book/{user_venue.public_id}"',
        " 30 %",
        f"curl '{BASE}/v1/restaurants/kodbyens-fiskebar'",
    ):
        assert shown in text, shown
    # What is sold, and a venue that takes no orders.
    for sold in ("turbot", "/photos/", "/order/"):
        assert sold not in text
    assert f'<link rel="canonical" href="{BASE}/restaurants/kodbyens-fiskebar">' in text
    assert f'hreflang="x-default" href="{BASE}/restaurants/kodbyens-fiskebar"' in text
    assert f'hreflang="da" href="{BASE}/restaurants/kodbyens-fiskebar?lang=da"' in text


@pytest.fixture
def user_venue() -> Venue:
    return venues.venue(is_bookable_online=True, timezone="Europe/Copenhagen")


def test_linked_data_is_a_restaurant_of_schema_org(client: Client) -> None:
    hours = builders.week("17:30", "23:00", days=range(5)) | {
        "special_days": [{"date": "2026-12-24", "periods": []}, {"date": "2025-12-24", "periods": []}]
    }
    fiskebar(name="</script><b>Fish & Co", hours=hours)
    data = linked_data(client.get("/restaurants/kodbyens-fiskebar"))
    assert data == {
        "@context": "https://schema.org",
        "@type": "Restaurant",
        "@id": f"{BASE}/restaurants/kodbyens-fiskebar",
        "url": f"{BASE}/restaurants/kodbyens-fiskebar",
        "name": "</script><b>Fish & Co",
        "telephone": "+4532155656",
        "sameAs": "https://fiskebaren.dk",
        "priceRange": "$$$",
        "servesCuisine": ["Seafood"],
        "address": {
            "@type": "PostalAddress",
            "streetAddress": "Flæsketorvet 100",
            "addressLocality": "København V",
            "postalCode": "1711",
            "addressCountry": "DK",
        },
        "geo": {"@type": "GeoCoordinates", "latitude": TIVOLI[0], "longitude": TIVOLI[1]},
        "openingHoursSpecification": [
            {
                "@type": "OpeningHoursSpecification",
                "dayOfWeek": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
                "opens": "17:30",
                "closes": "23:00",
            },
            {
                "@type": "OpeningHoursSpecification",
                "validFrom": "2026-12-24",
                "validThrough": "2026-12-24",
                "opens": "00:00",
                "closes": "00:00",
            },
        ],
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": 4.5,
            "bestRating": 5,
            "worstRating": 1,
            "reviewCount": 812,
        },
    }


def test_a_page_shows_what_the_restaurant_says_about_itself(client: Client) -> None:
    fiskebar(description="Fish & wine.\n<b>Daily</b>", menu_url="https://fiskebaren.dk/menu?a=1&b=2")
    response = client.get("/restaurants/kodbyens-fiskebar")
    page = response.content.decode()
    assert "Fish &amp; wine.<br>&lt;b&gt;Daily&lt;/b&gt;" in page
    assert (
        '<a href="https://fiskebaren.dk/menu?a=1&amp;b=2" rel="nofollow noopener noreferrer">See the menu</a>' in page
    )
    data = linked_data(response)
    assert data["description"] == "Fish & wine.\n<b>Daily</b>"
    assert data["hasMenu"] == "https://fiskebaren.dk/menu?a=1&b=2"
    Restaurant.objects.update(menu_url="javascript:alert(1)")
    assert "javascript" not in text_of(client.get("/restaurants/kodbyens-fiskebar"))


def test_the_week_begins_today_and_names_holidays_and_closures(client: Client) -> None:
    hours = builders.week("18:00", "02:00") | {"special_days": [{"date": "2026-11-22", "periods": []}]}
    place = fiskebar(hours=hours)
    builders.Holiday.objects.create(market=place.market, date=NOW.date() + timedelta(days=2), name="Fish day")
    response = client.get("/restaurants/kodbyens-fiskebar")
    rows = re.findall("<tr.*?</tr>", response.content.decode().partition('class="week"')[2].partition("</table>")[0])
    assert [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows[:3]] == [
        "Sat 21 Nov 18:00 - 02:00",
        "Sun 22 Nov closed Special hours",
        "Mon 23 Nov 18:00 - 02:00 Fish day",
    ]
    assert len(rows) == 7
    assert [row.startswith('<tr class="today" aria-current="date">') for row in rows] == [True, *[False] * 6]


def test_values_of_attributes_without_a_translation_are_marked_as_english(client: Client) -> None:
    fiskebar(attributes={"wheelchair": "limited", "internet_access": "for_customers"})
    text = text_of(client.get("/restaurants/kodbyens-fiskebar?lang=da"))
    assert '<bdi class="quiet" lang="en">(for customers)</bdi>' in text
    assert '<bdi class="quiet">(begrænset)</bdi>' in text


def test_former_slugs_ids_and_slashes_redirect_permanently_and_erased_ones_are_gone(client: Client) -> None:
    place = fiskebar()
    public_id = client.get("/v1/restaurants/kodbyens-fiskebar").json()["id"]
    places.rename(place, "fiskebaren", actor="staff", now=NOW)
    for former in ("kodbyens-fiskebar", public_id):
        response = client.get(f"/restaurants/{former}?lang=da")
        assert (response.status_code, response["Location"]) == (301, "/restaurants/fiskebaren?lang=da")
    response = client.get("/restaurants/fiskebaren/?lang=da")
    assert (response.status_code, response["Location"]) == (301, "/restaurants/fiskebaren?lang=da")
    missing = client.get("/restaurants/fiskebare")
    assert missing.status_code == 404
    assert '<a href="/restaurants/fiskebaren"><bdi>fiskebaren' in text_of(missing)
    places.erase(place, actor="staff", now=NOW)
    for former in ("fiskebaren", "kodbyens-fiskebar", public_id):
        assert client.get(f"/restaurants/{former}").status_code == 410


@pytest.mark.parametrize("slug", ["a%00b", quote("é" * 300), "a" * 121, "%0A"])
def test_what_is_no_slug_is_not_looked_up(client: Client, slug: str) -> None:
    with costing(0):
        assert client.get(f"/restaurants/{slug}").status_code == 404


def test_a_closed_restaurant_says_so(client: Client) -> None:
    fiskebar(status="permanently_closed")
    text = text_of(client.get("/restaurants/kodbyens-fiskebar"))
    assert "Permanently closed" in text
    assert "Open until" not in text
    assert '<meta name="robots" content="noindex">' in text
    assert "openingHoursSpecification" not in text
    assert 'content="noindex' not in text_of(client.get(f"/restaurants/{builders.restaurant().slug}"))


# All pages
@pytest.mark.parametrize("path", ["/restaurants?market=copenhagen", "/restaurants/kodbyens-fiskebar"])
def test_pages_are_cached_like_free_answers_and_set_no_cookie(client: Client, path: str) -> None:
    fiskebar()
    for _ in range(22):
        builders.restaurant()
    response = client.get(path)
    assert response["Cache-Control"] == "public, max-age=60, stale-while-revalidate=300"
    assert response["Vary"] == "Accept-Language"
    assert response["Content-Language"] == "en"
    assert response.cookies == {}
    with time_machine.travel(NOW + timedelta(seconds=5), tick=False):
        again = client.get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    danish = client.get(path, headers={"If-None-Match": response["ETag"], "Accept-Language": "da"})
    assert (danish.status_code, danish["Content-Language"]) == (200, "da")


def test_pages_of_an_address_have_a_limit_of_their_own(client: Client, rf: RequestFactory) -> None:
    fiskebar()
    for _ in range(PAGES.limit - 1):
        count_call(PAGES.policy, PAGES.allowance(rf.get("/")))
    assert client.get("/restaurants/kodbyens-fiskebar").status_code == 200
    refused = client.get("/restaurants/kodbyens-fiskebar")
    assert (refused.status_code, refused["Cache-Control"]) == (429, "private, no-store")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "Your connection may open 60 pages a minute." in text_of(refused)
    called = client.get("/v1/restaurants/kodbyens-fiskebar")
    assert (called.status_code, called["X-RateLimit-Remaining"]) == (200, "9")
    assert client.get("/sitemap-restaurants-9999.xml").status_code == 404


def test_a_chosen_language_does_not_vary_and_english_has_the_plain_address(client: Client) -> None:
    fiskebar()
    plain = f"{BASE}/restaurants/kodbyens-fiskebar"
    for language, canonical in (("en", plain), ("da", f"{plain}?lang=da")):
        response = client.get(f"/restaurants/kodbyens-fiskebar?lang={language}")
        assert "Vary" not in response
        text = text_of(response)
        assert f'<link rel="canonical" href="{canonical}">' in text
        assert f'hreflang="en" href="{plain}">' in text
        assert f'hreflang="da" href="{plain}?lang=da">' in text
        assert "og:locale" not in text
    # The list of languages chooses one.
    assert '<a href="/restaurants/kodbyens-fiskebar?lang=en" lang="en"' in text


def test_other_methods_are_refused(client: Client) -> None:
    assert client.post("/restaurants").status_code == 405


# The vocabulary is read each time in tests, and kept for five seconds otherwise.
def test_what_the_pages_cost(client: Client) -> None:
    x402_manifest.cached_prices.get(max_age_s=60)
    fiskebar()
    for number in range(3):
        builders.restaurant(latitude=TIVOLI[0] + number * NORTH)
    with costing(7):
        client.get("/restaurants?market=copenhagen")
    with costing(8):
        client.get("/restaurants?market=copenhagen&lang=da")
    with costing(9):
        client.get("/restaurants/kodbyens-fiskebar")


def test_the_map_is_drawn_by_an_index() -> None:
    values: dict[str, Any] = {"left": 0, "bottom": 0, "right": 1, "top": 1, "kinds": ["park"], "limit": 5}
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {maps.AROUND}", values)
        plan = "\n".join(row for (row,) in cursor.fetchall())
    assert "landmark_by_position" in plan
