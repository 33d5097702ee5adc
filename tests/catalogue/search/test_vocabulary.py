"""The names that questions may use, and what is said of those that nobody knows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue import reference_data
from catalogue.models import Cuisine
from catalogue.search.text.vocabulary import Asked, Names
from framework.errors import InvalidRequest
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def refusal_of(param: str, *given: str) -> tuple[str, str | None, list[str]]:
    names = Names.load()
    with pytest.raises(InvalidRequest) as refused:
        getattr(names, f"check_{param}")(given)
    return str(refused.value), refused.value.param, refused.value.extra["suggestions"]


def test_all_names_are_read_in_one_query() -> None:
    reference_data.load()
    with CaptureQueriesContext(connection) as queries:
        names = Names.load()

    assert len(queries) == 1
    assert names.market("copenhagen").zone.key == "Europe/Copenhagen"
    assert names.cuisines["seafood"] == "Seafood"
    assert names.attributes["wheelchair"] == "Wheelchair access"
    assert names.diets["vegan"] == "Vegan"


def test_an_unknown_attribute_is_refused_with_those_that_are_like_it() -> None:
    reference_data.load()

    assert refusal_of("attributes", "wheelchair", "outdoor_seats") == (
        "Unknown attributes `outdoor_seats`. Did you mean `outdoor_seating`?"
        f" Known: {', '.join(sorted(Names.load().attributes))}.",
        "attributes",
        ["outdoor_seating", "indoor_seating"],
    )


def test_a_diet_is_named_without_its_prefix() -> None:
    reference_data.load()

    Names.load().check_diets(["vegan", "gluten_free"])
    said, param, suggestions = refusal_of("diets", "vegen")
    assert said.startswith("Unknown diet `vegen`. Did you mean `vegan`? Known: dairy_free, egg_free, ")
    assert (param, suggestions[0]) == ("diet", "vegan")


def test_an_unknown_cuisine_is_refused_under_the_parameter_that_named_it() -> None:
    builders.cuisine("seafood")
    with pytest.raises(InvalidRequest) as refused:
        Names.load().check_cuisines(["sefood"], param="cuisine_not")

    assert refused.value.param == "cuisine_not"
    assert refused.value.extra == {"suggestions": ["seafood"]}


def test_names_are_remembered_and_a_new_one_is_understood_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    builders.market("copenhagen")
    Names.load()
    monkeypatch.setattr("catalogue.search.text.vocabulary.REMEMBERED_S", 30.0)
    with CaptureQueriesContext(connection) as queries:
        names = Names.load()
    builders.market("berlin")
    builders.attribute("karaoke")

    assert len(queries) == 0
    assert "berlin" not in names.markets
    assert names.market("berlin").slug == "berlin"
    names.check_attributes(["karaoke"])


def test_words_call_a_cuisine_in_other_languages_too() -> None:
    reference_data.load()
    names = Names.load()

    assert names.cuisines_in("fisk og skaldyr nyhavn") == Asked(cuisines=("seafood",), rest="nyhavn")
    assert names.cuisines_in("寿司") == Asked(cuisines=("sushi",), rest="")
    assert names.cuisines_in("is") is None


def test_a_cuisine_without_labels_is_called_by_its_own() -> None:
    Cuisine.objects.create(slug="new-nordic", label="New Nordic", labels={"da": "Nynordisk"})

    assert Names.load().cuisines_in("new nordic") == Asked(cuisines=("new-nordic",), rest="")
    assert Names.load().cuisines_in("nynordisk") == Asked(cuisines=("new-nordic",), rest="")
