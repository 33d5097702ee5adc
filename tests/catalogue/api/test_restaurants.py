"""What the data API answers, to the letter."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalogue import reference_data
from catalogue.hours import read_osm
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW


@pytest.fixture(autouse=True)
def _saturday_evening(db: None) -> Any:
    """The clock stands at NOW."""
    with time_machine.travel(NOW, tick=False):
        yield


def refused(client: Client, address: str) -> dict[str, Any]:
    """The error of a 400."""
    response = client.get(address)
    assert response.status_code == 400, response.content
    error: dict[str, Any] = response.json()["error"]
    return error


def test_a_record_answers_in_the_documented_shape(client: Client) -> None:
    place = builders.restaurant(
        slug="kodbyens-fiskebar",
        name="Kødbyens Fiskebar",
        alt_names=["Fiskebaren"],
        neighborhood="Vesterbro",
        line1="Flæsketorvet 100",
        postal_code="1711",
        locality="Copenhagen",
        rating="4.5",
        review_count=812,
        price_level=3,
        phone="+4532155656",
        phone_verified_at=NOW,
        website="https://fiskebaren.example",
        hours=builders.week("17:30", "23:00", days=[5]),
        attributes={"outdoor_seating": True},
        external_ids={"osm": "node/1"},
    )
    builders.listing(place)
    slot = builders.slot(place, starts_at=NOW + timedelta(hours=46, minutes=30))
    builders.listed(place, record="node/1")

    response = client.get("/v1/restaurants/kodbyens-fiskebar")

    assert response.status_code == 200
    assert response.json() == {
        "slug": "kodbyens-fiskebar",
        "name": "Kødbyens Fiskebar",
        "id": encode("rst", place.pk),
        "alt_names": ["Fiskebaren"],
        "status": "open",
        "market": "copenhagen",
        "neighborhood": "Vesterbro",
        "address": {
            "line1": "Flæsketorvet 100",
            "locality": "Copenhagen",
            "region": None,
            "postal_code": "1711",
            "country": "DK",
            "formatted": "Flæsketorvet 100, 1711 Copenhagen, DK",
        },
        "location": {"lat": 55.6737, "lng": 12.5681},
        "phone": "+4532155656",
        "phone_verified": True,
        "phone_verified_at": "2026-11-21T18:00:00Z",
        "website": "https://fiskebaren.example",
        "menu_url": None,
        "description": None,
        "rating": 4.5,
        "review_count": 812,
        "price_level": 3,
        "cuisine": "Seafood",
        "cuisines": ["seafood"],
        "hours": {
            "timezone": "Europe/Copenhagen",
            "state": "open",
            "open_now": True,
            "next_change": "2026-11-21T23:00:00+01:00",
            "periods": [
                {"kind": "regular", "open": {"day": 5, "time": "17:30"}, "close": {"day": 5, "time": "23:00"}}
            ],
            "special_days": [],
            "display": ["Mon-Fri closed", "Sat 17:30-23:00", "Sun closed"],
            "osm": None,
        },
        "attributes": {"outdoor_seating": True},
        "flow_offer": {
            "percent": 30,
            "time": "17:30",
            "id": encode("fo", slot.pk),
            "date": "2026-11-23",
            "seats_left": 8,
        },
        "external_ids": {"osm": "node/1"},
        "sources": [
            {
                "source": "osm",
                "record": "node/1",
                "license": "ODbL-1.0",
                "updated_at": "2026-11-21T18:00:00Z",
                "fields": ["name", "hours"],
            }
        ],
        "attribution": [{"source": "osm", "text": "© osm", "license": "ODbL-1.0"}],
        "verified_at": None,
        "updated_at": "2026-11-21T18:00:00Z",
        "version": 1,
    }


def test_null_members_of_a_bare_record_are_stored(client: Client) -> None:
    builders.restaurant(slug="bare", cuisines=[], latitude=None, longitude=None)
    record = client.get("/v1/restaurants/bare").json()
    assert {name for name, value in record.items() if value is None} == {
        "neighborhood",
        "location",
        "phone",
        "phone_verified_at",
        "website",
        "menu_url",
        "description",
        "rating",
        "price_level",
        "cuisine",
        "flow_offer",
        "verified_at",
    }
    assert record["address"]["formatted"] is None
    assert record["hours"] == {
        "timezone": "Europe/Copenhagen",
        "state": "unknown",
        "open_now": None,
        "next_change": None,
        "periods": [],
        "special_days": [],
        "display": [],
        "osm": None,
    }


@pytest.mark.parametrize("status", ["temporarily_closed", "permanently_closed", "moved"])
def test_a_closure_outranks_the_hours_of_a_record(client: Client, status: str) -> None:
    place = builders.restaurant(hours=builders.week("00:00", "00:00"), status=status)
    hours = client.get(f"/v1/restaurants/{place.slug}").json()["hours"]
    assert (hours["state"], hours["open_now"], hours["next_change"]) == ("closed", False, None)


def test_an_offer_is_the_next_on_the_clock_of_the_restaurant(client: Client) -> None:
    tokyo = builders.market("tokyo", timezone="Asia/Tokyo", country="JP")
    place = builders.restaurant(market=tokyo)
    builders.listing(place)
    later = builders.slot(place, starts_at=NOW + timedelta(hours=3), percent=20)
    sooner = builders.slot(place, starts_at=NOW + timedelta(hours=2), percent=10, seats=6)

    def offer() -> Any:
        return client.get(f"/v1/restaurants/{place.slug}").json()["flow_offer"]

    # In Tokyo it is Sunday, three in the morning.
    day = {"date": "2026-11-22"}
    assert offer() == {"percent": 10, "time": "05:00", "id": encode("fo", sooner.pk), "seats_left": 6} | day
    sooner.delete()
    assert offer() == {"percent": 20, "time": "06:00", "id": encode("fo", later.pk), "seats_left": 8} | day
    later.delete()
    assert offer() is None


@pytest.mark.parametrize("status", ["temporarily_closed", "permanently_closed", "moved"])
def test_a_place_that_is_closed_offers_nothing(client: Client, status: str) -> None:
    place = builders.restaurant(status=status)
    builders.listing(place)
    builders.slot(place)
    assert client.get(f"/v1/restaurants/{place.slug}").json()["flow_offer"] is None
    assert [hit["flow_offer"] for hit in client.get("/v1/restaurants").json()["data"]] in ([], [None])


def test_a_record_costs_one_query(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    place = builders.restaurant()
    for key in ("osm", "demo", "wikidata"):
        builders.listed(place, key)
    builders.rule(place)
    with django_assert_num_queries(1):
        client.get(f"/v1/restaurants/{place.slug}")


def test_landmarks_are_listed_with_all_their_names(client: Client) -> None:
    park = builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen", wikidata="Q860898")
    assert client.get("/v1/landmarks", {"q": "tivoli", "ll": "55.6737,12.5681"}).json() == {
        "data": [
            {
                "id": encode("lm", park.pk),
                "name": "Tivoli Gardens",
                "kind": "park",
                "market": "copenhagen",
                "location": {"lat": 55.6737, "lng": 12.5681},
                "names": ["Tivoli", "Tivoli Gardens"],
                "wikidata": "Q860898",
                "distance_m": 0,
            }
        ],
        "pagination": {"limit": 20, "next_cursor": None, "has_more": False, "as_of": "2026-11-21T18:00:00Z"},
        "attribution": [{"source": park.source_id, "text": park.source.attribution, "license": park.source.license}],
    }
    assert refused(client, "/v1/landmarks?near=tivoli")["param"] == "near"


@pytest.mark.exhaustive
def test_the_dictionaries_are_listed_whole(client: Client) -> None:
    reference_data.load_reference_data()
    markets = client.get("/v1/markets").json()
    assert [market["slug"] for market in markets["data"]][:3] == ["barcelona", "berlin", "copenhagen"]
    assert markets["data"][2] == {
        "slug": "copenhagen",
        "name": "Copenhagen",
        "country": "DK",
        "timezone": "Europe/Copenhagen",
        "currency": "DKK",
        "location": {"lat": 55.6761, "lng": 12.5683},
        "radius_m": 25_000,
    }
    assert markets["pagination"]["has_more"] is False
    cuisines = client.get("/v1/cuisines").json()["data"]
    assert cuisines == sorted(cuisines, key=lambda cuisine: str(cuisine["slug"]))
    assert {"slug": "seafood", "label": "Seafood"} in cuisines
    assert refused(client, "/v1/markets?limit=1")["param"] == "limit"
    assert refused(client, "/v1/cuisines?limit=1")["param"] == "limit"


def test_hours_list_the_open_intervals_of_the_days_on_the_clock_of_the_restaurant(client: Client) -> None:
    builders.restaurant(slug="night", hours=builders.week("18:00", "02:00", days=[4, 5]))
    assert client.get("/v1/restaurants/night/hours?from=2026-11-21&to=2026-11-22").json() == {
        "slug": "night",
        "timezone": "Europe/Copenhagen",
        "from": "2026-11-21",
        "to": "2026-11-22",
        "spans": [
            {"opens_at": "2026-11-21T00:00:00+01:00", "closes_at": "2026-11-21T02:00:00+01:00"},
            {"opens_at": "2026-11-21T18:00:00+01:00", "closes_at": "2026-11-22T02:00:00+01:00"},
        ],
        "special_days": [],
        "holidays": [],
        "attribution": [],
    }


def test_hours_without_days_are_those_of_a_week_from_today(client: Client) -> None:
    builders.restaurant(slug="lunch", hours=builders.week("11:00", "15:00"))
    hours = client.get("/v1/restaurants/lunch/hours").json()
    assert (hours["from"], hours["to"], len(hours["spans"])) == ("2026-11-21", "2026-11-27", 7)


def test_unknown_hours_are_null_and_those_of_a_closed_place_are_empty(client: Client) -> None:
    builders.restaurant(slug="unknown")
    builders.restaurant(slug="closed", status="temporarily_closed", hours=builders.week("11:00", "15:00"))
    assert client.get("/v1/restaurants/unknown/hours").json()["spans"] is None
    assert client.get("/v1/restaurants/closed/hours").json()["spans"] == []
    assert client.get("/v1/restaurants/nothing/hours").status_code == 404


def test_hours_with_dates_are_read_for_the_days_that_are_asked_for(client: Client) -> None:
    hours = read_osm("10:00-02:00; Mar 10 off", timezone="Europe/Copenhagen", on=NOW.date()).to_json()
    builders.restaurant(slug="dated", hours=hours)
    spans = client.get("/v1/restaurants/dated/hours?from=2027-03-10&to=2027-03-11").json()["spans"]
    assert spans == [
        {"opens_at": "2027-03-10T00:00:00+01:00", "closes_at": "2027-03-10T02:00:00+01:00"},
        {"opens_at": "2027-03-11T10:00:00+01:00", "closes_at": "2027-03-12T00:00:00+01:00"},
    ]
    spans = client.get("/v1/restaurants/dated/hours?from=2027-03-11&to=2027-03-11").json()["spans"]
    assert [span["opens_at"] for span in spans] == ["2027-03-11T10:00:00+01:00"]


def test_edited_hours_with_dates_are_not_parsed_again(client: Client) -> None:
    hours = read_osm("10:00-02:00; Mar 10 off", timezone="Europe/Copenhagen", on=NOW.date()).to_json()
    hours["special_days"] = [{"date": "2026-12-01", "periods": []}]
    builders.restaurant(slug="edited", hours=hours, locked_fields=["hours"])
    spans = client.get("/v1/restaurants/edited/hours?from=2027-03-10&to=2027-03-10").json()["spans"]
    assert [span["opens_at"] for span in spans] == ["2027-03-10T00:00:00+01:00", "2027-03-10T10:00:00+01:00"]


def test_hours_of_special_days_alone_are_null_for_later_days(client: Client) -> None:
    special = {"date": "2026-11-22", "periods": [{"open": "12:00", "close": "20:00"}]}
    builders.restaurant(slug="market-day", hours={"timezone": "Europe/Copenhagen", "special_days": [special]})
    address = "/v1/restaurants/market-day/hours?from=2026-11-22&to="
    assert len(client.get(address + "2026-11-22").json()["spans"]) == 1
    assert client.get(address + "2026-11-23").json()["spans"] is None


def test_hours_that_are_broken_are_unknown(client: Client) -> None:
    builders.restaurant(slug="broken", hours={"timezone": "Mars/Olympus", "periods": [7]})
    hours = client.get("/v1/restaurants/broken").json()["hours"]
    assert (hours["timezone"], hours["state"], hours["open_now"]) == ("Europe/Copenhagen", "unknown", None)
    assert client.get("/v1/restaurants/broken/hours").json()["spans"] is None
