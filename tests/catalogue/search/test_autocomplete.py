"""What is suggested while somebody types."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from catalogue import reference_data
from catalogue.models import Restaurant
from catalogue.search.text.autocomplete import Suggestion, suggest
from framework.errors import InvalidRequest
from framework.public_ids import encode
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def texts(q: str, **options: Any) -> list[tuple[str, str]]:
    return [(each.type.value, each.text) for each in suggest(q, **options)]


def place(name: str, *, reviews: int = 0, **fields: Any) -> Restaurant:
    """A restaurant with so many reviews; what lists are ordered by shows them at once."""
    return builders.restaurant(name=name, review_count=reviews, **fields)


def test_a_restaurant_is_suggested_by_the_beginning_of_any_word_of_its_name() -> None:
    made = place("Kødbyens Fiskebar", slug="kodbyens-fiskebar", neighborhood="Vesterbro")

    for q in ("ko", "KØD", "kodbyens f", "fiske", "  Fiskebar "):
        assert suggest(q) == [
            Suggestion(
                type=found.type,
                text="Kødbyens Fiskebar",
                slug="kodbyens-fiskebar",
                id=encode("rst", made.pk),
                market="copenhagen",
                neighborhood="Vesterbro",
                highlight=found.highlight,
                rank=found.rank,
                weight=0.0,
            )
            for found in suggest(q)
        ]
        assert texts(q) == [("restaurant", "Kødbyens Fiskebar")]


def test_restaurants_of_one_name_differ_by_their_addresses(client: Client) -> None:
    for line in ("Vesterbrogade 1", "Vesterbrogade 100", None):
        place("McDonald's", line1=line)
    found = client.get("/v1/autocomplete?q=mcdon").json()["data"]
    assert {(each["text"], each["address"]) for each in found} == {
        ("McDonald's", "Vesterbrogade 1"),
        ("McDonald's", "Vesterbrogade 100"),
        ("McDonald's", None),
    }


def test_the_letters_that_were_typed_are_highlighted_in_the_text_as_it_is_written() -> None:
    place("Smørrebrød & Bar")

    assert suggest("smorre")[0].highlight == ((0, 6),)
    assert suggest("ba")[0].highlight == ((13, 15),)
    assert suggest("smorrebrod")[0].highlight == ((0, 10),)


def test_character_that_folds_into_two_counts_as_one_in_the_text() -> None:
    place("Bæst Pizza")

    assert suggest("baes")[0].highlight == ((0, 3),)


@pytest.mark.exhaustive
def test_all_kinds_are_suggested_and_a_whole_name_comes_first() -> None:
    reference_data.load_reference_data()
    place("Sushi Anaba", neighborhood="Nordhavn")
    place("The Sushi Bar")

    assert texts("sushi") == [("cuisine", "Sushi"), ("restaurant", "Sushi Anaba"), ("restaurant", "The Sushi Bar")]
    assert ("neighborhood", "Nordhavn") in texts("nordh")
    assert texts("tivoli gar")[0] == ("landmark", "Tivoli Gardens")


def test_landmark_is_shown_by_the_name_that_was_typed() -> None:
    made = builders.landmark("The Little Mermaid", "Den lille Havfrue", market="copenhagen", prominence=80)

    found = suggest("den lille")[0]
    assert (found.text, found.id, found.kind) == ("Den lille Havfrue", encode("lm", made.pk), "landmark")
    assert suggest("little")[0].text == "The Little Mermaid"


@pytest.mark.exhaustive
def test_cuisine_is_found_in_another_language_and_shown_in_english() -> None:
    reference_data.load_reference_data()

    assert texts("fisk og") == [("cuisine", "Seafood")]
    assert texts("寿司") == [("cuisine", "Sushi")]


def test_the_best_known_restaurants_come_first() -> None:
    for name, reviews in (("Sal Little", 3), ("Sal Great", 900), ("Sal Middle", 40)):
        place(name, reviews=reviews)

    assert [text for _, text in texts("sal")] == ["Sal Great", "Sal Middle", "Sal Little"]


def test_near_a_point_the_near_ones_come_first_and_those_of_other_markets_not_at_all() -> None:
    builders.market("berlin", latitude=52.52, longitude=13.405)
    place("Sal Far", reviews=100, latitude=55.72, longitude=12.5681)
    place("Sal Near", reviews=100)
    place("Sal Berlin", reviews=100, market="berlin", latitude=52.52, longitude=13.405)

    found = suggest("sal", ll=builders.TIVOLI)
    assert [(each.text, each.distance_m) for each in found] == [("Sal Near", 0), ("Sal Far", 5148)]
    assert [text for _, text in texts("sal", market="berlin")] == ["Sal Berlin"]
    assert len(texts("sal", ll=(0.0, 0.0))) == 3


@pytest.mark.parametrize("q", ["fiskabar", "fisebar", "fiskeebar", "fisekbar", "kodbyans fis", "xiskebar"])
def test_word_of_five_letters_may_have_one_error(q: str) -> None:
    place("Kødbyens Fiskebar")

    assert texts(q) == [("restaurant", "Kødbyens Fiskebar")]
    assert suggest(q)[0].highlight == ()


@pytest.mark.parametrize(("q", "meant"), [("tivolli", "Tivoli"), ("vesterbor", "Vesterbro"), ("seafodo", "Seafood")])
def test_landmarks_neighborhoods_and_cuisines_may_be_misspelt_too(q: str, meant: str) -> None:
    builders.landmark("Tivoli", market="copenhagen")
    place("Noma", neighborhood="Vesterbro")

    assert [text for _, text in texts(q)] == [meant]


@pytest.mark.parametrize("q", ["nom", "nmoa", "s", "'", "''", "!!!", "%", "__", "\\\\", "😀", "a & b | c", "':*"])
def test_what_begins_nothing_suggests_nothing(q: str) -> None:
    place("Kødbyens Fiskebar")

    assert suggest(q) == []


def test_a_rare_name_is_found_beyond_the_best_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalogue.search.text.autocomplete.MAX_POPULAR_ROWS", 2)
    for number in range(5):
        place(f"Famous {number}", reviews=1000)
    place("Quiet Corner")

    assert texts("quiet") == [("restaurant", "Quiet Corner")]
    assert texts("corner") == [("restaurant", "Quiet Corner")]


def test_closed_and_merged_restaurants_are_not_suggested() -> None:
    stored = place("Fiskebar")
    place("Fiskehus", status="permanently_closed")
    place("Fiskestand", merged_into=stored)

    assert texts("fiske") == [("restaurant", "Fiskebar")]


def test_no_kind_takes_the_whole_list() -> None:
    for number in range(8):
        builders.landmark(f"Sal Gate {number}", market="copenhagen")
        place(f"Sal {number}")

    found = texts("sal", limit=8)
    assert [kind for kind, _ in found] == ["landmark"] * 2 + ["restaurant"] * 6
    Restaurant.objects.update(status="permanently_closed")
    assert [kind for kind, _ in texts("sal", limit=8)] == ["landmark"] * 8


def test_the_same_neighborhood_is_suggested_once() -> None:
    made = builders.landmark("Vesterbro", kind="neighborhood", market="copenhagen", prominence=70)
    place("Noma", neighborhood="Vesterbro")

    (found,) = suggest("vester")
    assert (found.type, found.text, found.id) == ("neighborhood", "Vesterbro", encode("lm", made.pk))


def test_suggestions_are_two_queries_when_the_words_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    place("Kødbyens Fiskebar")
    suggest("ko")
    monkeypatch.setattr("catalogue.search.text.vocabulary.MAX_AGE_S", 30.0)
    monkeypatch.setattr("catalogue.search.text.spell_correction.MAX_AGE_S", 30.0)
    with CaptureQueriesContext(connection) as queries:
        suggest("ko")

    assert len(queries) == 2


def test_an_unknown_market_is_refused() -> None:
    builders.market("copenhagen")
    with pytest.raises(InvalidRequest) as refused:
        suggest("ko", market="copenhagn")

    assert refused.value.extra == {"suggestions": ["copenhagen"]}


def test_the_wire_has_suggestions_that_caches_keep() -> None:
    made = place("Kødbyens Fiskebar", slug="kodbyens-fiskebar")

    answer = Client().get("/v1/autocomplete?q=fisk&ll=55.6737,12.5681")

    assert answer.json()["data"] == [
        {
            "type": "restaurant",
            "text": "Kødbyens Fiskebar",
            "slug": "kodbyens-fiskebar",
            "id": encode("rst", made.pk),
            "kind": None,
            "market": "copenhagen",
            "neighborhood": None,
            "address": None,
            "distance_m": 0,
            "highlight": [[9, 13]],
        }
    ]
    assert answer.json()["pagination"]["has_more"] is False
    again = Client().get("/v1/autocomplete?q=fisk&ll=55.6737,12.5681", headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("query", "param"), [("", "q"), ("q=a&limit=21", "limit"), ("q=a&lang=da", "lang"), ("q=a&ll=1", "ll")]
)
def test_a_bad_question_is_refused_with_its_parameter(query: str, param: str) -> None:
    answer = Client().get(f"/v1/autocomplete?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
