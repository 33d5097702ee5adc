"""Searches and look-ups over HTTP, to the letter; and that the document describes what is written."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.test import Client

from catalogue import responses, search
from catalogue.hours import open_intervals
from catalogue.models import Restaurant
from catalogue.search import Facet, Query
from catalogue.serializers.search import BatchAnswer, SearchAnswer
from framework.public_ids import encode
from payments.devchain.wallets import Wallet
from tests.catalogue import builders
from tests.catalogue.builders import NOW, TIVOLI
from tests.payments.signing import client_of
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db


@pytest.fixture
def _saturday_evening() -> Iterator[None]:
    """The clock stands at NOW."""
    with time_machine.travel(NOW, tick=False):
        yield


def fiskebar() -> Restaurant:
    """The restaurant of the contract's example, a walk of eight minutes from Tivoli."""
    place = builders.restaurant(
        slug="kodbyens-fiskebar",
        name="Kødbyens Fiskebar",
        neighborhood="Vesterbro",
        rating="4.5",
        review_count=812,
        price_level=3,
        cuisines=["seafood", "danish"],
        phone="+4532155656",
        hours=builders.week("17:30", "23:00"),
        latitude=TIVOLI[0] + 0.0044247,
    )
    builders.listing(place)
    builders.listed(place)
    open_intervals.refresh_open_intervals(now=NOW)
    return place


@pytest.mark.usefixtures("_saturday_evening")
def test_a_search_answers_in_the_documented_shape(client: Client) -> None:
    park = builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    slot = builders.slot(fiskebar(), starts_at=NOW + timedelta(hours=1), seats=6)

    response = client.get("/v1/restaurants", {"near": "tivoli", "open": "now"})

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.json() == {
        "data": [
            {
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
                "walking_distance_m": 640,
                "walking_minutes": 8,
                "distance_m": 492,
                "open_now": True,
                "next_change": "2026-11-21T23:00:00+01:00",
                "flow_offer": {
                    "percent": 30,
                    "time": "20:00",
                    "id": encode("fo", slot.pk),
                    "date": "2026-11-21",
                    "seats_left": 6,
                },
                "location": {"lat": TIVOLI[0] + 0.0044247, "lng": 12.5681},
            }
        ],
        "pagination": {"limit": 20, "next_cursor": None, "has_more": False, "as_of": "2026-11-21T18:00:00Z"},
        "query": {
            "near": "tivoli",
            "resolved": {
                "id": encode("lm", park.pk),
                "name": "Tivoli Gardens",
                "kind": "park",
                "market": "copenhagen",
                "lat": 55.6737,
                "lng": 12.5681,
                "city": "Copenhagen",
                "country": "DK",
                "near": "Tivoli Gardens, Copenhagen",
                "ambiguous": False,
            },
            "alternatives": [],
            "open_at": "2026-11-21T18:00:00Z",
            "distance_method": "estimated",
            "understood": [],
            "matched": "all_words",
            "without": [],
        },
        "attribution": [{"source": "osm", "text": "© osm", "license": "ODbL-1.0"}],
    }


@pytest.mark.usefixtures("_saturday_evening")
def test_totals_and_facets_stand_in_the_answer_where_they_were_asked_for(client: Client) -> None:
    fiskebar()
    answer = client.get(
        "/v1/restaurants", {"market": "copenhagen", "include_total": "true", "facets": "price,open_now"}
    ).json()
    assert answer["pagination"]["total"] == {"value": 1, "relation": "eq"}
    assert answer["facets"] == {
        "counted": {"value": 1, "relation": "eq"},
        "price": [{"value": "3", "label": "3", "count": 1}],
        "open_now": [{"value": "now", "label": "Open now", "count": 1}],
    }
    assert "total" not in client.get("/v1/restaurants", {"include_total": "false"}).json()["pagination"]


def as_documented(answer: Any, written: bytes) -> Any:
    """What the document's serializer makes of an answer, with the texts of moments read where it writes them."""
    values = orjson.loads(written)
    for hit in values["data"]:
        if hit["flow_offer"]:
            hit["flow_offer"]["time"] = time.fromisoformat(hit["flow_offer"]["time"])
            hit["flow_offer"]["date"] = date.fromisoformat(hit["flow_offer"]["date"])
    return orjson.loads(orjson.dumps(answer(values).data))


@pytest.mark.exhaustive
def test_what_is_written_has_the_keys_and_types_of_the_document() -> None:
    builders.landmark("Tivoli", market="copenhagen")
    builders.attribute("wheelchair")
    builders.slot(fiskebar())
    builders.restaurant(cuisines=[], latitude=None, longitude=None)
    builders.restaurant(rating=5, status="temporarily_closed", attributes={"wheelchair": True})
    for query in (
        Query(),
        Query(limit=1),
        Query(near="tivoli", open="now", include_total=True, facets=tuple(Facet)),
        Query(market="copenhagen", lang="da", facets=tuple(Facet)),
    ):
        written = search.search_restaurants(query, now=NOW).to_json()
        assert as_documented(SearchAnswer, written) == orjson.loads(written)
    written = search.look_up_slugs(["kodbyens-fiskebar", "nobody"], now=NOW).to_json()
    assert as_documented(BatchAnswer, written) == orjson.loads(written)


@pytest.mark.exhaustive
def test_hit_has_exactly_this_json() -> None:
    builders.market("reykjavik", timezone="Atlantic/Reykjavik")
    builders.slot(fiskebar(), starts_at=NOW + timedelta(hours=1))
    builders.restaurant(hours=builders.week("17:00", "23:30"), market_id="reykjavik", latitude=TIVOLI[0] + 0.006)
    builders.restaurant(latitude=TIVOLI[0] + 0.007)
    builders.restaurant(status="temporarily_closed", latitude=TIVOLI[0] + 0.008)
    open_intervals.refresh_open_intervals(now=NOW)
    near, utc, unknown, shut = (
        hit.json.partition(',"walking_')[2] for hit in search.search_restaurants(Query(ll=TIVOLI), now=NOW).hits
    )
    offer = near.partition(',"flow_offer":')[2]
    assert near.startswith(
        'distance_m":640,"walking_minutes":8,"distance_m":492,"open_now":true,"next_change":"2026-11-21T23:00:00+01:00",'
    )
    assert list(orjson.loads(offer[:-1])) == ["percent", "time", "id", "date", "seats_left"]
    assert utc.endswith('"open_now":true,"next_change":"2026-11-21T22:30:00Z","flow_offer":null}')
    assert unknown.endswith('"distance_m":778,"open_now":null,"next_change":null,"flow_offer":null}')
    assert shut.endswith('"distance_m":890,"open_now":false,"next_change":null,"flow_offer":null}')
    nowhere = search.search_restaurants(Query(limit=1), now=NOW).hits[0].json
    assert ',"walking_distance_m":null,"walking_minutes":null,"distance_m":null,"open_now":true,' in nowhere


@pytest.mark.usefixtures("_saturday_evening")
def test_unencoded_characters_are_accepted(client: Client) -> None:
    builders.landmark("Kødbyen", market="copenhagen")
    assert client.get("/v1/restaurants?near=Kødbyen").json()["query"]["resolved"]["name"] == "Kødbyen"


@pytest.mark.usefixtures("_saturday_evening")
def test_next_cursor_leads_through_all_pages(client: Client) -> None:
    for _ in range(7):
        builders.restaurant()
    slugs: list[str] = []
    parameters = {"limit": "3"}
    for size, more in ((3, True), (3, True), (1, False)):
        page = client.get("/v1/restaurants", parameters).json()
        assert len(page["data"]) == size
        assert page["pagination"]["has_more"] is more
        assert (page["pagination"]["next_cursor"] is not None) is more
        slugs += [hit["slug"] for hit in page["data"]]
        parameters = {"limit": "3", "cursor": page["pagination"]["next_cursor"]}
    assert len(set(slugs)) == 7


@pytest.mark.exhaustive
def test_a_search_that_finds_the_same_is_304_a_moment_later(client: Client) -> None:
    place = builders.restaurant(hours=builders.week("09:00", "23:00"))
    builders.restaurant(hours=builders.week("09:00", "23:00"))
    open_intervals.refresh_open_intervals(now=NOW)
    address = "/v1/restaurants?open=now&limit=1"

    def ask(now: datetime, etag: str = "") -> Any:
        with time_machine.travel(now, tick=False):
            return client.get(address, headers={"if-none-match": etag})

    first = ask(NOW)
    assert first["Cache-Control"] == "public, max-age=60, stale-while-revalidate=300"
    again = ask(NOW + timedelta(minutes=1), first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    Restaurant.objects.filter(pk=place.pk).update(phone="+4532155656")
    changed = ask(NOW + timedelta(minutes=1), first["ETag"])
    assert (changed.status_code, changed["ETag"] == first["ETag"]) == (200, False)


# Several at once
@pytest.mark.exhaustive
def test_a_batch_comes_in_the_order_asked_and_says_what_has_become_of_the_rest() -> None:
    for slug in ("a", "b", "c", "old", "gone", "double", "erased"):
        builders.restaurant(slug=slug)
    Restaurant.objects.filter(slug="old").update(slug="new")
    Restaurant.objects.filter(slug="gone").update(status="permanently_closed")
    rows = Restaurant.objects.get(slug="c")
    Restaurant.objects.filter(slug="double").update(merged_into=rows)
    Restaurant.objects.filter(slug="erased").update(erased_at=NOW)
    with costing(1):
        batch = search.look_up_slugs(["c", "nobody", "old", "gone", "a", "double", "erased", "a"], now=NOW)
    assert [hit.slug for hit in batch.hits] == ["c", "new", "a"]
    assert batch.missing == ["nobody", "erased"]
    assert batch.closed == ["gone"]
    assert batch.renamed == {"old": "new", "double": "c"}


def test_a_batch_is_for_the_premium_tier(client: Client, wallets: Mapping[str, Wallet]) -> None:
    builders.restaurant(slug="noma")
    address = "/v1/restaurants?slugs=noma,nobody&lang=da"
    refused = client.get(address)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tier_required")
    served = client_of(wallets["premium"]).get(address)
    assert served.status_code == 200
    answer = served.json()
    assert [hit["slug"] for hit in answer["data"]] == ["noma"]
    assert {name: answer[name] for name in ("missing", "closed", "renamed", "attribution")} == {
        "missing": ["nobody"],
        "closed": [],
        "renamed": {},
        "attribution": [],
    }


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("slugs=noma&q=noma", "q"),
        ("slugs=noma&limit=20", "limit"),
        ("slugs=Noma", "slugs"),
        ("slugs=noma,", "slugs"),
        ("slugs=" + ",".join(f"a{number}" for number in range(101)), "slugs"),
        ("slugs=noma&fields=reviews,wine", "fields"),
        ("slugs=noma&fields=core&lang=da", "lang"),
        ("fields=reviews&slugs=" + ",".join(f"a{number}" for number in range(21)), "slugs"),
    ],
)
def test_a_batch_is_refused_by_name_before_its_tier_is_asked_for(client: Client, query: str, param: str) -> None:
    refused = client.get(f"/v1/restaurants?{query}")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)


def batch_of(*slugs: str, fields: str) -> str:
    return f"/v1/restaurants?slugs={','.join(slugs)}&fields={fields}"


@pytest.mark.parametrize("fields", ["core", "core,reviews"])
def test_full_records_in_a_batch_are_for_the_premium_tier(
    client: Client, wallets: Mapping[str, Wallet], fields: str
) -> None:
    builders.restaurant(slug="noma")
    for caller in (client, client_of(wallets["pro"])):
        refused = caller.get(batch_of("noma", fields=fields))
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "tier_required")
        assert refused.json()["error"]["tier_required"] == "premium"


def test_a_batch_with_fields_has_the_same_records_as_one_by_one(client: Client, wallets: Mapping[str, Wallet]) -> None:
    builders.listed(fiskebar())
    for slug in ("a", "old", "gone"):
        builders.restaurant(slug=slug)
    renamed = Restaurant.objects.get(slug="old")
    renamed.former_slugs.create(slug="older", until=NOW)
    Restaurant.objects.filter(slug="gone").update(status="permanently_closed")
    open_intervals.refresh_open_intervals(now=NOW)
    asked_for = ("gone", "older", "kodbyens-fiskebar", "nobody", "a", "a")
    premium = client_of(wallets["premium"])
    with time_machine.travel(NOW, tick=False):
        answer = premium.get(batch_of(*asked_for, fields="core")).json()
        singly = [client.get(f"/v1/restaurants/{slug}").json() for slug in ("gone", "old", "kodbyens-fiskebar", "a")]
    assert answer == {
        "data": singly,
        "missing": ["nobody"],
        "closed": ["gone"],
        "renamed": {"older": "old"},
        "attribution": singly[2]["attribution"],
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [1, 100])
def test_a_batch_of_records_takes_four_queries_however_many(number: int) -> None:
    slugs = [f"r{each}" for each in range(number)]
    for slug in slugs:
        builders.listed(builders.restaurant(slug=slug))
    responses.records(slugs, ["core"], now=NOW)
    with costing(4):
        content = responses.records(slugs, ["core"], now=NOW)
    assert [row["slug"] for row in orjson.loads(content.body)["data"]] == slugs
    assert content.sold == ()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("kind=restaurant", ["noma"]),
        ("kind=restaurant,bar", ["noma", "ruby"]),
        ("kind=pub", []),
        ("kind_not=bar", ["noma", "unknown"]),
        ("kind_not=bar,restaurant", ["unknown"]),
        ("kind=bar&attributes=outdoor_seating", ["ruby"]),
        ("kind=restaurant&attributes=outdoor_seating", []),
        ("kind=restaurant,bar&kind_not=pub", ["noma", "ruby"]),
    ],
)
def test_a_search_keeps_and_leaves_out_kinds_of_places(client: Client, query: str, found: list[str]) -> None:
    builders.attribute()
    builders.restaurant(slug="noma", attributes={"kind": "restaurant"})
    builders.restaurant(slug="ruby", attributes={"kind": "bar", "outdoor_seating": True})
    builders.restaurant(slug="unknown")
    answer = client.get(f"/v1/restaurants?market=copenhagen&{query}").json()
    assert sorted(hit["slug"] for hit in answer["data"]) == found


@pytest.mark.parametrize(("query", "param"), [("kind=disco", "kind"), ("kind=bar&kind_not=bar", "kind_not")])
def test_kinds_that_nothing_can_match_are_refused(client: Client, query: str, param: str) -> None:
    builders.market()
    refused = client.get(f"/v1/restaurants?market=copenhagen&{query}")
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
