"""What is suggested while a person fills an argument in: as REST suggests it, in a query or two."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue.mcp.prompts import PROMPTS
from catalogue.search.geocoding import landmarks
from catalogue.search.text import spell_correction, vocabulary
from tests.catalogue import builders
from tests.mcp.client import Era, rpc

ERAS: list[Era] = ["2025-11-25", "2026-07-28"]
DINNER = {"type": "ref/prompt", "name": "plan_dinner"}
COMPARE = {"type": "ref/prompt", "name": "compare"}
RECORD = {"type": "ref/resource", "uri": "restaurants://restaurant/{slug}"}
pytestmark = pytest.mark.django_db


@pytest.fixture
def _remembering(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in the product: what a process has read it knows for a while."""
    vocabulary._cache.clear()  # noqa: SLF001  # what the process remembers
    spell_correction._cache.clear()  # noqa: SLF001  # what the process remembers
    monkeypatch.setattr("catalogue.search.text.vocabulary.MAX_AGE_S", 30.0)
    monkeypatch.setattr("catalogue.search.text.spell_correction.MAX_AGE_S", 30.0)
    yield
    vocabulary._cache.clear()  # noqa: SLF001
    spell_correction._cache.clear()  # noqa: SLF001


def completed(client: Client, ref: dict[str, str], name: str, typed: str, *, era: Era = "2025-11-25") -> Any:
    """The completion of what was typed."""
    answer = rpc(client, "completion/complete", {"ref": ref, "argument": {"name": name, "value": typed}}, era=era)
    return answer["result"]["completion"]


@pytest.mark.parametrize("era", ERAS)
def test_near_becomes_landmarks_neighborhoods_and_cities(client: Client, era: Era) -> None:
    builders.market()
    builders.landmark("Tivoli Gardens", "Tivoli")
    builders.landmark("Tivoliparken", kind="neighborhood")
    builders.restaurant(name="Tivoli Hallen")
    result = completed(client, DINNER, "near", "tivo", era=era)
    assert result["total"] == len(result["values"])
    assert result["hasMore"] is False
    assert {*result["values"]} == {"Tivoli Gardens", "Tivoliparken"}
    for value in result["values"]:
        assert landmarks.geocode(value, market=None).place.name == value


def test_equal_names_are_listed_with_their_markets(client: Client) -> None:
    builders.market("london", name="London")
    builders.market("new-york", name="New York")
    builders.landmark("Soho", kind="neighborhood", market_id="london")
    builders.landmark("SoHo", kind="neighborhood", market_id="new-york", at=(40.72, -74.0))
    result = completed(client, DINNER, "near", "soho")
    assert {*result["values"]} == {"Soho, London", "SoHo, New York"}
    assert landmarks.geocode("SoHo, New York", market=None).place.market == "new-york"


def test_before_two_letters_near_is_one_of_the_markets(client: Client) -> None:
    builders.market("paris", name="Paris")
    builders.market()
    assert completed(client, DINNER, "near", "") == {"values": ["Copenhagen", "Paris"], "total": 2, "hasMore": False}
    assert completed(client, DINNER, "near", "p")["values"] == ["Paris"]


@pytest.mark.parametrize("era", ERAS)
def test_a_name_becomes_the_slug_the_best_known_first(client: Client, era: Era) -> None:
    builders.restaurant(name="Noma", slug="noma", review_count=900)
    builders.restaurant(name="Noma Bar", slug="noma-bar-london", review_count=20)
    builders.restaurant(name="Geranium", slug="geranium")
    assert completed(client, RECORD, "slug", "Nom", era=era) == {
        "values": ["noma", "noma-bar-london"],
        "total": 2,
        "hasMore": False,
    }
    assert completed(client, RECORD, "slug", "noma-b", era=era)["values"] == ["noma-bar-london"]
    assert completed(client, RECORD, "slug", "", era=era) == {"values": [], "total": 0, "hasMore": False}


def test_of_several_slugs_the_last_is_completed_and_none_is_given_twice(client: Client) -> None:
    builders.restaurant(name="Noma", slug="noma")
    builders.restaurant(name="Noma Bar", slug="noma-bar")
    builders.restaurant(name="Geranium", slug="geranium")
    assert completed(client, COMPARE, "slugs", "ger")["values"] == ["geranium"]
    assert completed(client, COMPARE, "slugs", "noma,ger")["values"] == ["noma,geranium"]
    assert completed(client, COMPARE, "slugs", "noma, nom")["values"] == ["noma, noma-bar"]
    assert completed(client, COMPARE, "slugs", "noma,")["values"] == []


@pytest.mark.exhaustive
def test_a_truncated_completion_reports_more_values(client: Client) -> None:
    for number in range(45):
        builders.restaurant(name=f"Bistro {number:02}", slug=f"bistro-{number:02}")
    content = completed(client, RECORD, "slug", "bistro")
    assert (len(content["values"]), content["hasMore"]) == (20, True)
    assert "total" not in content


@pytest.mark.usefixtures("_remembering")
@pytest.mark.parametrize(
    ("ref", "name", "typed"), [(DINNER, "near", "tivo"), (RECORD, "slug", "noma"), (COMPARE, "slugs", "a,noma")]
)
def test_a_completion_is_one_query(client: Client, ref: dict[str, str], name: str, typed: str) -> None:
    builders.landmark("Tivoli Gardens", "Tivoli")
    builders.restaurant(name="Noma", slug="noma")
    completed(client, ref, name, typed)
    with CaptureQueriesContext(connection) as queries:
        assert len(completed(client, ref, name, typed)["values"]) == 1
    assert len(queries) == 1


@pytest.mark.usefixtures("_remembering")
def test_a_completion_of_nothing_asks_nothing(client: Client) -> None:
    completed(client, DINNER, "near", "")
    with CaptureQueriesContext(connection) as queries:
        for ref, name, typed in ((DINNER, "near", ""), (RECORD, "slug", "n"), (COMPARE, "slugs", "noma,")):
            completed(client, ref, name, typed)
    assert len(queries) == 0


@pytest.mark.parametrize("typed", ["x" * 61, "\x07ti", "%_%", "\\", "'; --", "å" * 60, " , , "])
def test_no_text_breaks_it(client: Client, typed: str) -> None:
    for ref, name in ((DINNER, "near"), (RECORD, "slug"), (COMPARE, "slugs")):
        assert completed(client, ref, name, typed)["hasMore"] is False


def test_arguments_in_words_of_ones_own_are_not_completed(client: Client) -> None:
    assert completed(client, DINNER, "budget", "4") == {"values": [], "total": 0, "hasMore": False}
    assert {one.name for prompt in PROMPTS for one in prompt.arguments if one.complete} == {"near", "slugs"}


def test_what_there_is_not_cannot_be_completed(client: Client) -> None:
    for ref in ({"type": "ref/prompt", "name": "nope"}, {"type": "ref/resource", "uri": "restaurants://nope"}):
        answer = rpc(client, "completion/complete", {"ref": ref, "argument": {"name": "near", "value": "t"}})
        assert answer["error"]["code"] == -32602
