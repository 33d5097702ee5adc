"""The names that questions may use, and what is said of those that nobody knows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue import reference_data
from catalogue.search.text.vocabulary import Vocabulary
from framework.errors import InvalidRequest
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def refusal_of(param: str, *given: str) -> tuple[str, str | None, list[str]]:
    names = Vocabulary.load()
    with pytest.raises(InvalidRequest) as refused:
        getattr(names, f"check_{param}")(given)
    return str(refused.value), refused.value.param, refused.value.extra["suggestions"]


@pytest.mark.exhaustive
def test_all_names_are_read_in_one_query() -> None:
    reference_data.load_reference_data()
    with CaptureQueriesContext(connection) as queries:
        names = Vocabulary.load()

    assert len(queries) == 1
    assert names.market("copenhagen").zone.key == "Europe/Copenhagen"
    assert names.cuisines["seafood"] == "Seafood"
    assert names.attributes["wheelchair"] == "Wheelchair access"
    assert names.diets["vegan"] == "Vegan"


@pytest.mark.exhaustive
def test_an_unknown_attribute_is_refused_with_those_that_are_like_it() -> None:
    reference_data.load_reference_data()

    assert refusal_of("attributes", "wheelchair", "outdoor_seats") == (
        "Unknown attributes `outdoor_seats`. Did you mean `outdoor_seating`?"
        f" Known: {', '.join(sorted(Vocabulary.load().attributes))}.",
        "attributes",
        ["outdoor_seating", "indoor_seating"],
    )


@pytest.mark.exhaustive
def test_a_diet_is_named_without_its_prefix() -> None:
    reference_data.load_reference_data()

    Vocabulary.load().check_diets(["vegan", "gluten_free"])
    message, param, suggestions = refusal_of("diets", "vegen")
    assert message.startswith("Unknown diet `vegen`. Did you mean `vegan`? Known: dairy_free, egg_free, ")
    assert (param, suggestions[0]) == ("diet", "vegan")


def test_an_unknown_cuisine_is_refused_under_the_parameter_that_named_it() -> None:
    builders.cuisine("seafood")
    with pytest.raises(InvalidRequest) as refused:
        Vocabulary.load().find_cuisines(["sefood"], param="cuisine_not")

    assert refused.value.param == "cuisine_not"
    assert refused.value.extra == {"suggestions": ["seafood"]}


def test_names_are_remembered_and_a_new_one_is_understood_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    builders.market("copenhagen")
    Vocabulary.load()
    monkeypatch.setattr("catalogue.search.text.vocabulary.MAX_AGE_S", 30.0)
    with CaptureQueriesContext(connection) as queries:
        names = Vocabulary.load()
    builders.market("berlin")
    builders.attribute("karaoke")

    assert len(queries) == 0
    assert "berlin" not in names.markets
    assert names.market("berlin").slug == "berlin"
    names.check_attributes(["karaoke"])
