"""What the words of `q` become: parameters, terms, and words that are left out."""

import datetime as dt
from typing import Any

import pytest

from catalogue import reference_data
from catalogue.models import Cuisine
from catalogue.search import Query
from catalogue.search.query import LocalMoment, Sort
from catalogue.search.text.understanding import Term, Understanding, understand
from catalogue.search.text.vocabulary import Vocabulary
from framework.errors import InvalidRequest
from tests.catalogue import builders

pytestmark = pytest.mark.django_db


def read(q: str, **given: Any) -> Understanding:
    return understand(Query(q=q, **given), Vocabulary.read())


def changes(q: str, **given: Any) -> dict[str, Any]:
    """The parameters that are not as given."""
    before, after = Query(q=q, **given), read(q, **given).query
    names = ("market", "near", "price", "price_max", "open", "open_for", "sort", "attributes", "q")
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}


@pytest.fixture
def _dictionaries() -> None:
    reference_data.load_reference_data()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_each_idea_of_a_text_becomes_its_parameter() -> None:
    assert changes("burger berlin") == {"market": "berlin", "q": "burger"}
    assert changes("best pizza in milan") == {"sort": Sort.RATING, "market": "milan", "q": "pizza"}
    assert changes("cheap sushi near tivoli gardens") == {"price_max": 2, "near": "tivoli gardens", "q": "sushi"}
    assert changes("open now copenhagen") == {"open": "now", "market": "copenhagen", "q": None}
    assert changes("late night ramen in tokyo") == {"open": dt.time(23, 30), "market": "tokyo", "q": "ramen"}
    assert changes("pubs with outdoor seating") == {"attributes": ("outdoor_seating",), "q": "pubs"}
    # Six languages.
    assert changes("billig pizza københavn") == {"price_max": 2, "market": "copenhagen", "q": "pizza"}
    assert changes("günstiges sushi in berlin") == {"price_max": 2, "market": "berlin", "q": "sushi"}
    assert changes("meilleur bistro à paris") == {"sort": Sort.RATING, "market": "paris", "q": "bistro"}
    assert changes("pizza aperto ora a milano") == {"open": "now", "market": "milan", "q": "pizza"}
    assert changes("tapas baratas en barcelona") == {"price_max": 2, "market": "barcelona", "q": "tapas"}
    assert changes("安い寿司 東京") == {"price_max": 2, "market": "tokyo", "q": "寿司"}


@pytest.mark.usefixtures("_dictionaries")
def test_the_answer_says_what_each_word_became() -> None:
    assert [part.to_dict() for part in read("cheap thai food near tivoli").parts] == [
        {"words": "cheap", "parameter": "price_max", "value": "2"},
        {"words": "thai", "parameter": "cuisine", "value": "thai"},
        {"words": "food", "parameter": None, "value": None},
        {"words": "tivoli", "parameter": "near", "value": "tivoli"},
    ]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_a_cuisine_is_found_by_its_synonyms_its_plural_and_its_kinds() -> None:
    assert read("hamburgers").terms == (Term("hamburgers", ("burger",), is_named=True),)
    assert read("pizzeria").terms[0].cuisines == ("pizza",)
    assert read("japanese").terms[0].cuisines == (
        "izakaya", "japanese", "ramen", "sushi", "tempura", "udon", "yakitori"
    )  # fmt: skip
    assert read("寿司").terms[0].cuisines == ("sushi",)
    assert read("fisk og skaldyr").terms[0].cuisines == ("seafood",)
    # "is" is Danish for ice cream, and the word of many names.
    assert not read("is").terms[0].is_named


def test_a_cuisine_of_staff_is_understood_by_its_labels_and_synonyms() -> None:
    Cuisine.objects.create(slug="new-nordic", label="New Nordic", labels={"da": "Nynordisk"}, synonyms=["noma style"])
    for words in ("new nordic", "nynordisk", "noma style"):
        assert read(words).terms == (Term(words, ("new-nordic",), is_named=True),)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_explicit_parameters_win() -> None:
    assert changes("cheap pizza", price=(4,)) == {"q": "pizza"}
    assert changes("best pizza", sort=Sort.REVIEWS) == {"q": "pizza"}
    assert changes("pizza open now", open=dt.time(20)) == {"q": "pizza"}
    assert changes("pizza at 22:30", open=dt.time(20)) == {"q": "pizza"}
    # A city in the words is part of a name there.
    assert changes("new york pizza", market="copenhagen") == {}
    assert changes("pizza near the louvre", ll=(55.67, 12.57))["q"] != "pizza near"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_days_meals_and_hours_become_a_moment() -> None:
    assert changes("sunday brunch london")["open"] == LocalMoment("6", dt.time(11))
    assert changes("dinner tomorrow in paris")["open"] == LocalMoment("tomorrow", dt.time(19, 30))
    assert changes("pizza tonight berlin")["open"] == LocalMoment("tonight", dt.time(19, 30))
    assert changes("sushi at 22:30 tokyo")["open"] == dt.time(22, 30)
    assert changes("kebab open until 2 am berlin")["open"] == dt.time(1, 45)
    assert changes("diner open 24h new york")["open_for"] == 1440
    assert changes("friday 9pm tapas barcelona")["open"] == LocalMoment("4", dt.time(21))


@pytest.mark.usefixtures("_dictionaries")
def test_words_without_a_meaning_never_empty_a_search() -> None:
    assert read("restaurants in berlin").terms == ()
    assert changes("good italian restaurant", market="berlin") == {"q": "italian"}
    # A text of such words alone is looked for.
    assert read("restaurant").terms == (Term("restaurant"),)


@pytest.mark.usefixtures("_dictionaries")
def test_articles_and_conjunctions_stay_in_names() -> None:
    assert read("la bodega barcelona").terms == (Term("la bodega"),)
    assert read("bread and butter").terms == (Term("bread and butter"),)
    assert read("the pizza").terms == (Term("pizza", ("pizza",), is_named=True),)


@pytest.mark.usefixtures("_dictionaries")
def test_a_misspelled_word_is_understood_unless_a_name_has_it() -> None:
    assert changes("suhsi berln") == {"market": "berlin", "q": "suhsi"}
    assert read("suhsi berln").terms[0].cuisines == ("sushi",)
    assert read("vegtarian").terms[0].tags == ("diet_vegetarian",)
    builders.restaurant(name="Suhsi")
    assert read("suhsi berlin").terms == (Term("suhsi"),)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
@pytest.mark.parametrize("q", ["tacos near me", "my hotel", "pizza nearby", "sushi around here"])
def test_a_place_that_only_the_caller_knows_is_asked_for(q: str) -> None:
    with pytest.raises(InvalidRequest, match="give a point as `ll`") as refused:
        read(q)
    assert refused.value.param == "q"
    assert read(q, ll=(55.67, 12.57)).query.near is None


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_a_neighborhood_that_no_record_states_is_a_place_by_any_of_its_names() -> None:
    assert changes("steak saint germain") == {"near": "saint germain", "q": "steak"}
    assert changes("渋谷居酒屋") == {"near": "渋谷", "q": "居酒屋"}
    assert changes("pizza west village new york") == {"near": "west village", "market": "new-york", "q": "pizza"}
    # Only in the market that is named: Le Marais is in Paris.
    assert changes("marais pizza", market="berlin") == {}


@pytest.mark.usefixtures("_dictionaries")
def test_a_misspelled_place_is_understood() -> None:
    assert changes("pizza times sqaure") == {"near": "times square", "q": "pizza"}
    assert [part.to_dict()["words"] for part in read("pizza times sqaure").parts] == ["pizza", "times sqaure"]
    assert changes("dim sum chinatwn") == {"near": "chinatown", "q": "dim sum"}


@pytest.mark.usefixtures("_dictionaries")
def test_a_city_of_the_world_within_a_market_is_a_place() -> None:
    assert changes("burger brooklyn") == {"near": "brooklyn", "q": "burger"}
    # Alone it may be a name, and elsewhere it is not in a market.
    assert changes("brooklyn") == {}
    assert changes("burger kyoto") == {}


@pytest.mark.usefixtures("_dictionaries")
def test_a_time_of_day_without_a_place_does_not_refuse_the_other_words() -> None:
    late = read("late night kebab")
    assert (late.query.open, late.query.q) == (None, "kebab")
    assert late.parts[0].to_dict() == {"words": "late night", "parameter": None, "value": None}
    assert read("late night kebab", market="berlin").query.open == dt.time(23, 30)
    assert read("kebab open now").query.open == "now"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_dictionaries")
def test_occasions_are_read_where_a_free_attribute_states_them_and_are_left_out_otherwise() -> None:
    assert changes("family dinner berlin")["attributes"] == ("highchair",)
    assert changes("restaurant with live music berlin")["attributes"] == ("live_music",)
    for q in ("romantic dinner paris", "business lunch paris", "restaurant avec vue paris", "birthday dinner paris"):
        assert read(q).terms == (), q
        assert read(q).query.attributes == (), q


@pytest.fixture
def _nice(_dictionaries: None) -> None:
    """Markets whose names are common words of a query, in English and in French."""
    builders.market("nice", name="Nice", country="FR", timezone="Europe/Paris")
    builders.market("bon", name="Bon", country="FR", timezone="Europe/Paris")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_nice")
@pytest.mark.parametrize(
    ("q", "market"),
    [
        ("nice pizza", None),
        ("a nice pizza", None),
        ("nice pizza in berlin", "berlin"),
        ("somewhere nice", None),
        ("pizza in a nice place", None),
        ("bon restaurant italien", None),
        ("un bon couscous", None),
        ("pizza in nice", "nice"),
        ("in nice a good pizza", "nice"),
        ("pizza à nice", "nice"),
        ("nice france pizza", "nice"),
        ("pizza nice", "nice"),
        ("nice", "nice"),
        ("couscous bon", "bon"),
    ],
)
def test_a_market_whose_name_is_a_common_word_needs_evidence(q: str, market: str | None) -> None:
    assert read(q).query.market == market


@pytest.mark.usefixtures("_nice")
def test_a_common_word_that_names_no_market_here_is_left_out() -> None:
    assert [part.to_dict() for part in read("nice pizza").parts] == [
        {"words": "nice", "parameter": None, "value": None},
        {"words": "pizza", "parameter": "cuisine", "value": "pizza"},
    ]
