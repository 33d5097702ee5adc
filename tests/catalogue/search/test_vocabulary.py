"""The names that questions may use, and what is said of those that nobody knows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalogue import reference_data
from catalogue.importers.parsing.market_lookup import MarketIndex
from catalogue.search.geocoding.distance import Location
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


def test_a_place_in_a_large_market_belongs_to_it_although_the_centre_of_a_small_one_is_nearer() -> None:
    builders.market("copenhagen")
    # 40 km to the east.
    builders.market("lund", latitude=55.6761, longitude=13.2066, radius_m=5_000)
    names = Vocabulary.load()

    # 22 km from the centre of Copenhagen and 18 km from that of Lund.
    inside = Location(55.6761, 12.9194)
    # 26 km and 14 km: outside of both, and nearer to the border of Copenhagen.
    outside = Location(55.6761, 12.9833)

    assert [area and area.slug for area in (names.containing_market(inside), names.containing_market(outside))] == [
        "copenhagen", None,
    ]  # fmt: skip
    nearest = [names.nearest_market(place) for place in (inside, outside)]
    assert nearest == [names.markets["copenhagen"]] * 2


def test_a_place_in_two_markets_belongs_to_the_nearest_centre_as_imports_have_it() -> None:
    builders.market("copenhagen")
    builders.market("frederiksberg", latitude=55.6786, longitude=12.5339, radius_m=1_000)
    names, markets = Vocabulary.load(), MarketIndex.load(only=None)

    for longitude, slug in ((12.5340, "frederiksberg"), (12.5455, "frederiksberg"), (12.5560, "copenhagen")):
        place = Location(55.6786, longitude)
        area, market = names.containing_market(place), markets.find_nearest(place)
        assert (area and area.slug, market and market.slug) == (slug, slug)
