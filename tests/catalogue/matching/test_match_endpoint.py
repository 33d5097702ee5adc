"""Which of our restaurants a place of somebody's list is."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue.matching.match_endpoint import Match, find_matches
from catalogue.models import Restaurant
from framework.errors import InvalidRequest
from framework.public_ids import encode
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def fiskebar(**fields: Any) -> Restaurant:
    return builders.restaurant(
        **{
            "name": "Kødbyens Fiskebar",
            "slug": "kodbyens-fiskebar",
            "line1": "Flæsketorvet 100",
            "postal_code": "1711",
            "locality": "København V",
            "phone": "+4532155656",
            "latitude": 55.6681,
            "longitude": 12.5594,
            **fields,
        }
    )


def verdicts(found: list[Match]) -> list[tuple[str, str]]:
    return [(each.slug, each.verdict) for each in found]


@pytest.mark.parametrize(
    "known",
    [
        {"address": "Flaesketorvet 100, 1711 København V"},
        {"phone": "+45 32 15 56 56"},
        {"phone": "32 15 56 56", "market": "copenhagen"},
        {"ll": (55.6682, 12.5595)},
    ],
)
def test_a_place_is_found_by_its_name_and_one_thing_more(known: dict[str, Any]) -> None:
    fiskebar()
    builders.restaurant(name="Mother", line1="Høkerboderne 9", latitude=55.6685, longitude=12.5594)

    assert verdicts(find_matches("Kodbyens Fiskebar", **known)) == [("kodbyens-fiskebar", "same")]


def test_a_name_in_a_market_is_likely_and_may_be_misspelt() -> None:
    fiskebar()
    fiskebar(slug="berlin", market="berlin", phone=None)

    assert verdicts(find_matches("Kødbyens Fiskbar", market="copenhagen")) == [("kodbyens-fiskebar", "likely")]


def test_the_best_comes_first_and_no_more_than_asked() -> None:
    fiskebar(slug="branch", line1="Nørrebrogade 4", phone=None)
    fiskebar()

    found = find_matches("Kødbyens Fiskebar", address="Flæsketorvet 100, Copenhagen")
    assert verdicts(found) == [("kodbyens-fiskebar", "same"), ("branch", "likely")]
    assert verdicts(find_matches("Kødbyens Fiskebar", market="copenhagen", limit=1)) != []
    assert len(find_matches("Kødbyens Fiskebar", market="copenhagen", limit=1)) == 1


def test_a_town_behind_a_comma_says_in_which_market() -> None:
    fiskebar()
    fiskebar(slug="berlin", market=builders.market("berlin", name="Berlin"), phone=None)

    found = find_matches("Kødbyens Fiskebar", address="Flæsketorvet 100, Berlin")
    assert verdicts(found) == [("berlin", "same")]


def test_closed_restaurant_is_shown_as_closed_and_a_merged_one_is_not_shown() -> None:
    stored = fiskebar(status="permanently_closed")
    fiskebar(slug="merged", merged_into=stored)

    (found,) = find_matches("Kødbyens Fiskebar", ll=(55.6681, 12.5594))
    assert (found.slug, found.status) == ("kodbyens-fiskebar", "permanently_closed")


def test_text_without_similar_names_finds_nothing() -> None:
    fiskebar()

    assert find_matches("Zanzibar", ll=(55.6681, 12.5594)) == []
    assert find_matches("Kødbyens Fiskebar", ll=(10.0, 10.0)) == []
    assert find_matches("'%_", market="copenhagen") == []


def test_a_name_alone_is_refused() -> None:
    fiskebar()
    with pytest.raises(InvalidRequest) as refused:
        find_matches("Kødbyens Fiskebar")

    assert str(refused.value) == "A name alone is too little to go by: add `address`, `phone`, `ll` or `market`."
    assert refused.value.param == "name"


@pytest.mark.parametrize("known", [{"ll": (55.6681, 12.5594)}, {"market": "copenhagen", "phone": "+4532155656"}])
def test_a_match_is_at_most_five_queries(known: dict[str, Any]) -> None:
    fiskebar()
    with CaptureQueriesContext(connection) as queries:
        find_matches("Kødbyens Fiskebar", **known)

    assert len([each for each in queries if "SAVEPOINT" not in each["sql"]]) <= 5


def test_the_wire_tells_what_is_alike() -> None:
    made = fiskebar()

    answer = Client().get("/v1/match", {"name": "Fiskebar", "ll": "55.6681,12.5594", "phone": "+4532155656"})

    (found,) = answer.json()["data"]
    assert found == {
        "slug": "kodbyens-fiskebar",
        "id": encode("rst", made.pk),
        "name": "Kødbyens Fiskebar",
        "status": "open",
        "market": "copenhagen",
        "neighborhood": None,
        "address": {
            "line1": "Flæsketorvet 100",
            "postal_code": "1711",
            "locality": "København V",
            "country": "DK",
        },
        "distance_m": 0,
        "score": found["score"],
        "verdict": "same",
        "reasons": {"name": 0.9, "address": None, "phone_equal": True},
    }
    assert 0.85 < found["score"] < 0.95
    assert "max-age=60" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("market=copenhagen", "name"),
        ("name=Noma", "name"),
        ("name=Noma&market=copenhagn", "market"),
        ("name=Noma&market=copenhagen&limit=0", "limit"),
        ("name=Noma&adress=x", "adress"),
    ],
)
def test_a_bad_question_is_refused_with_its_parameter(query: str, param: str) -> None:
    builders.market("copenhagen")
    answer = Client().get(f"/v1/match?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
