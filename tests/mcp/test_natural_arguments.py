"""Arguments as models and people write them: read without loss, or refused with the choices; never guessed."""

from typing import Any

import pytest
import time_machine
from django.test import Client

from catalogue import reference_data
from catalogue.mcp.server import SERVER
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.mcp.client import call, content_of, price_of, refusal_of, words_of

pytestmark = pytest.mark.django_db


def read(tool: str, **arguments: Any) -> dict[str, Any]:
    """The arguments in the forms of their schemas."""
    return SERVER.tools_by_name[tool].coerce_arguments(arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        # A number, a boolean or a list as text, and the reverse.
        ("search_restaurants", {"price_max": "4", "rating_min": "4.5"}, {"price_max": 4, "rating_min": 4.5}),
        ("search_restaurants", {"limit": "10.0", "party_size": " 4 "}, {"limit": 10, "party_size": 4}),
        ("list_reviews", {"with_photos": "true", "has_reply": "No"}, {"with_photos": True, "has_reply": False}),
        ("list_reviews", {"stars": 5}, {"stars": [5]}),
        ("list_reviews", {"stars": "1, 2"}, {"stars": [1, 2]}),
        ("search_restaurants", {"cuisine": "italian, thai"}, {"cuisine": ["italian", "thai"]}),
        ("search_restaurants", {"cuisine": '["italian","thai"]'}, {"cuisine": ["italian", "thai"]}),
        ("search_restaurants", {"q": 1893, "near": ["Tivoli"]}, {"q": "1893", "near": "Tivoli"}),
        ("search_restaurants", {"ll": [55.6, 12.5]}, {"ll": "55.6,12.5"}),
        ("search_restaurants", {"ll": "55.6, 12.5"}, {"ll": "55.6,12.5"}),
        # What strict clients fill in for what the model has not said.
        ("search_restaurants", {"near": "", "cuisine": [], "diet": [""], "limit": None, "q": "  "}, {}),
        # Words of enums in other letters.
        (
            "search_restaurants",
            {"kind": ["Fast food", "Bar"], "sort": "Rating"},
            {"kind": ["fast_food", "bar"], "sort": "rating"},
        ),
        ("report_problem", {"kind": "hours wrong"}, {"kind": "hours_wrong"}),
        # Moments, days and times of day.
        ("search_restaurants", {"bookable_at": "2026-11-24 21:30"}, {"bookable_at": "2026-11-24T21:30"}),
        ("search_restaurants", {"bookable_at": "2026-11-24T21:30:00"}, {"bookable_at": "2026-11-24T21:30"}),
        ("search_restaurants", {"bookable_at": "2026-11-24 at 9:30 pm"}, {"bookable_at": "2026-11-24T21:30"}),
        ("search_restaurants", {"open": "9pm"}, {"open": "21:00"}),
        ("search_restaurants", {"open": "12:15 a.m."}, {"open": "00:15"}),
        ("search_restaurants", {"open": "Now"}, {"open": "now"}),
        ("search_restaurants", {"open": "2026-11-24 21:30"}, {"open": "2026-11-24T21:30"}),
        ("list_offers", {"time": "9:30", "date": "2026/11/24"}, {"time": "09:30", "date": "2026-11-24"}),
        ("book_table", {"time": "19:30:00", "date": "2026-11-4"}, {"time": "19:30", "date": "2026-11-04"}),
        # Other letters of a slug.
        ("get_restaurant", {"slug": " Kodbyens-Fiskebar"}, {"slug": "kodbyens-fiskebar"}),
        # What may mean two things, or nothing, stays as it is and is refused.
        ("search_restaurants", {"open": "9"}, {"open": "9"}),
        ("search_restaurants", {"open": "13 pm"}, {"open": "13 pm"}),
        ("search_restaurants", {"bookable_at": "2026-11-24 21:30Z"}, {"bookable_at": "2026-11-24 21:30Z"}),
        ("list_offers", {"date": "11/24/2026"}, {"date": "11/24/2026"}),
        ("list_offers", {"date": "tomorrow"}, {"date": "tomorrow"}),
        ("search_restaurants", {"limit": "ten", "party_size": True}, {"limit": "ten", "party_size": True}),
        ("search_restaurants", {"price_max": "2.5"}, {"price_max": "2.5"}),
        ("search_restaurants", {"near": ["Tivoli", "Nyhavn"]}, {"near": ["Tivoli", "Nyhavn"]}),
        ("search_restaurants", {"rating_min": "4,5"}, {"rating_min": "4,5"}),
    ],
)
def test_another_form_of_the_same_meaning_is_read_and_no_other(
    tool: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert read(tool, **arguments) == expected


def test_two_spellings_of_one_call_are_one_purchase() -> None:
    assert read("list_reviews", slug="NOMA", stars="5", limit="10") == read(
        "list_reviews", slug="noma", stars=[5], limit=10
    )


@pytest.fixture
def fiskebar() -> None:
    reference_data.load_reference_data()
    builders.restaurant(
        slug="fiskebar",
        name="Fiskebar",
        cuisines=["italian"],
        price_level=2,
        attributes={"outdoor_seating": True, "wheelchair": True, "diet_gluten_free": True},
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"cuisine": "Italian"},
        {"cuisine": ["ITALIAN"]},
        {"cuisine": "italienisch"},
        {"market": "Copenhagen", "cuisine": ["italian"]},
        {"market": "København"},
        {"diet": "gluten-free"},
        {"diet": ["Gluten free"]},
        {"attributes": "Outdoor seating, Wheelchair access"},
        {"attributes": ["outdoor-seating"], "price_max": "2"},
        {"cuisine": "Italian", "near": "", "diet": [], "attributes": "", "sort": None},
    ],
)
def test_words_of_people_find_what_slugs_find(client: Client, fiskebar: None, arguments: dict[str, Any]) -> None:
    found = content_of(call(client, "search_restaurants", **arguments))
    assert [hit["slug"] for hit in found["data"]] == ["fiskebar"]


@pytest.mark.parametrize(
    ("arguments", "param", "words"),
    [
        ({"market": "Atlantis"}, "market", "Unknown market `Atlantis`. Known: barcelona, berlin, copenhagen,"),
        ({"diet": "no gluten"}, "diet", "Unknown diet `no gluten`."),
        ({"attributes": ["terrace view"]}, "attributes", "Unknown attributes `terrace view`."),
        ({"cuisine": "klingon"}, "cuisine", "Unknown cuisine `klingon`."),
    ],
)
def test_an_unknown_word_is_refused_with_the_choices(
    client: Client, fiskebar: None, arguments: dict[str, Any], param: str, words: str
) -> None:
    result = call(client, "search_restaurants", **arguments)
    assert refusal_of(result)["param"] == param
    assert words in words_of(result)
    assert "Known: " in words_of(result) or "Among those known: " in words_of(result)


@pytest.mark.parametrize(
    ("tool", "rest"),
    [
        ("get_restaurant", {}),
        ("list_offers", {}),
        ("get_hours", {"date": "2026-12-25"}),
        ("report_problem", {"kind": "closed"}),
        ("book_table", {"date": "2026-11-21", "time": "20:00", "party_size": 2}),
    ],
)
def test_a_name_is_no_slug_and_the_error_says_where_slugs_are(client: Client, tool: str, rest: dict[str, Any]) -> None:
    words = words_of(call(client, tool, slug="Il Sole Verde", **rest))
    assert words.endswith("a slug that search_restaurants gives, such as il-sole-verde.")


def test_words_are_read_in_a_bulk_order_and_in_offers(client: Client, fiskebar: None) -> None:
    assert "isError" not in call(client, "list_offers", market="New York", party_size="2", time="9 pm")
    assert "isError" not in call(client, "find_landmark", query="tivoli", market="copenhagen", limit="5")


# Tools for what had none
def test_the_hours_of_one_day_are_read_with_its_holiday(client: Client) -> None:
    builders.restaurant(slug="fiskebar", hours=builders.week("17:30", "23:00"))
    with time_machine.travel(NOW, tick=False):
        hours = content_of(call(client, "get_hours", slug="fiskebar", date="2026-12-25"))
        days = content_of(call(client, "get_hours", slug="fiskebar", date="2026-12-25", until="2026-12-27"))
    assert (hours["from"], hours["to"]) == ("2026-12-25", "2026-12-25")
    assert [span["opens_at"][:16] for span in hours["spans"]] == ["2026-12-25T17:30"]
    assert len(days["spans"]) == 3


def test_a_review_is_sold_by_its_id(client: Client, prices: None) -> None:
    place = builders.restaurant(slug="noma")
    review = builders.review(place, "Superb.", stars=5)
    (accepts,) = price_of(call(client, "get_review", review_id=encode("rev", review.pk))).accepts
    assert accepts.amount == "4000"
    unknown = call(client, "get_review", review_id="rev_" + "0" * 26)
    assert refusal_of(unknown)["code"] == "not_found"
    assert "It takes: rev_..." in words_of(call(client, "get_review", review_id="5"))


def test_a_closed_restaurant_is_reported_once(client: Client) -> None:
    builders.restaurant(slug="noma")
    first = content_of(call(client, "report_problem", slug="noma", kind="closed", text="A bank is there now."))
    again = content_of(call(client, "report_problem", slug="noma", kind="Closed", text="A bank is there now."))
    assert (first["kind"], first["state"], again["id"]) == ("closed", "open", first["id"])
    words = words_of(call(client, "report_problem", slug="noma", kind="gone"))
    assert "closed, moved, hours_wrong" in words


def test_search_and_fetch_have_the_shapes_that_chatgpt_reads(client: Client, fiskebar: None) -> None:
    found = content_of(call(client, "search", query="italian in copenhagen"))
    (result,) = found["results"]
    assert (result["id"], result["title"]) == ("fiskebar", "Fiskebar, Copenhagen")
    document = content_of(call(client, "fetch", id=result["id"]))
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert document["title"] == "Fiskebar"
    assert "Cuisine: Italian" in document["text"]
    assert document["url"] == result["url"]
    assert all(isinstance(value, str) for value in document["metadata"].values())
    assert client.get(document["url"]).status_code == 200
    assert "search_restaurants" in words_of(call(client, "fetch", id="nowhere"))
