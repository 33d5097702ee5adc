"""The arguments of tools: taken just when the published schema takes them, refused in words that help."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from catalogue.mcp.server import SERVER
from framework.errors import InvalidRequest
from framework.invisible_text import remove_invisible
from framework.mcp.tools import Tool
from tests.catalogue import builders
from tests.mcp.client import call, refusal_of, words_of

pytestmark = pytest.mark.django_db

# What no shape can say: the calendar, names that are ours, and what goes with what.
BEYOND_SHAPE = re.compile(
    r"no such (moment|day) in the calendar|Unknown market|does not go with `slug`|written YYYY-MM-DD"
    r"|Send at least one field to change"
)
# Of these the shape of REST's body judges the arguments, which tests/mcp/test_booking.py and test_exports.py try.
READ_AS_JSON = ("book_table", "start_export", "report_problem")
TOOLS = [tool for tool in SERVER.tools if tool.name not in READ_AS_JSON]
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema takes."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "boolean":
            return st.booleans()
        case "integer":
            whole = st.integers(schema["minimum"], schema["maximum"])
            return whole | whole.map(float)
        case "number":
            return st.floats(schema["minimum"], schema["maximum"])
        case "array":
            return st.lists(fitting(schema["items"]), min_size=1, max_size=schema.get("maxItems", 12))
    if schema.get("format") == "date":
        return st.dates().map(str)
    # What names judge has no pattern.
    shape, max_length = schema.get("pattern", "[a-z-]+"), schema.get("maxLength", 400)
    is_text = r"[^\s" in shape
    written = st.text(min_size=1, max_size=min(max_length, 40)) if is_text else st.from_regex(shape, fullmatch=True)
    return written.filter(
        lambda text: len(text) <= max_length and re.fullmatch(shape, text, re.ASCII) and remove_invisible(text).strip()
    )


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def problems_of(tool: Tool, arguments: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    """What is wrong with these arguments."""
    try:
        tool.validate_arguments(tool.coerce_arguments(arguments))
    except InvalidRequest as refusal:
        return [(problem.param, problem.message) for problem in refusal.details]
    return []


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@given(drawn=st.data())
@FEW
def test_what_the_schema_takes_is_never_refused_for_its_shape(tool: Tool, drawn: st.DataObject) -> None:
    schema = tool.input_schema
    # With the patterns, which are not listed.
    strategies = {name: fitting(each) for name, each in tool.argument_schemas.items()}
    needed = {name: strategies.pop(name) for name in schema.get("required", ())}
    arguments = drawn.draw(st.fixed_dictionaries(needed, optional=strategies))
    assert Draft202012Validator(schema).is_valid(arguments)
    found = problems_of(tool, arguments)
    assert [problem for problem in found if not BEYOND_SHAPE.search(problem[1])] == []


@pytest.mark.sample(3)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@given(drawn=st.data())
@FEW
def test_what_the_schema_does_not_take_is_refused_by_name(tool: Tool, drawn: st.DataObject) -> None:
    schema = tool.input_schema
    name = drawn.draw(st.sampled_from([*schema["properties"], "unheard_of"]))
    arguments = dict.fromkeys(schema.get("required", ()), "noma") | {name: drawn.draw(ANYTHING)}
    own = Draft202012Validator(tool.argument_schemas.get(name, False))
    read = tool.coerce_arguments(arguments)
    # What has another form of the same meaning is read in the form that the schema takes.
    if name in read and not own.is_valid(read[name]):
        assert [message for param, message in problems_of(tool, arguments) if param == name]


def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a caller's model reads."""
    result = call(client, tool, **arguments)
    assert refusal_of(result)["code"] == "invalid_request"
    return words_of(result)


KNOWN = (
    "near, ll, radius, q, market, cuisine, attributes, diet, kind, kind_not, open, bookable_at, party_size,"
    " rating_min, price_max, sort, limit, cursor"
)


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"neer": "Tivoli"}, f"Unknown argument `neer`. Did you mean `near`? Known: {KNOWN}."),
        ({"limit": True}, "`limit`: This must be a whole number from 1 to 50, not true."),
        ({"limit": 51}, "`limit`: This must be a whole number from 1 to 50, not 51."),
        ({"limit": 0}, "`limit`: This must be a whole number from 1 to 50, not 0."),
        ({"limit": 10.5}, "`limit`: This must be a whole number from 1 to 50, not 10.5."),
        ({"limit": "9" * 99}, f'`limit`: This must be a whole number from 1 to 50, not "{"9" * 78}….'),
        ({"near": {"city": "Rome"}}, "`near`: This must be a string, not an object of 1."),
        ({"near": [[], {}]}, "`near`: This must be a string, not an array of 2."),
        ({"near": "Tivoli\x07"}, "`near`: This holds a control character."),
        ({"ll": [155.6, 12.5]}, "`ll`: This must be a string, not an array of 2."),
        (
            {"market": "copen hagen"},
            "Unknown market `copen hagen`. Did you mean `copenhagen`? Known: copenhagen.",
        ),
        ({"near": "x" * 121}, "`near`: This must be at most 120 characters long, not 121."),
        ({"cuisine": ["a"] * 11}, "`cuisine`: This must hold at most 10 values, not 11."),
        (
            {"cuisine": ["seafood,danish"]},
            "`cuisine`: In the array, 1 of 1: `seafood,danish` is not of the right form. It takes: Any of:"
            " Italian, seafood.",
        ),
        (
            {"sort": "ratings"},
            "`sort`: Unknown value `ratings`. Did you mean `rating`? Known: best, distance, rating, reviews, offer.",
        ),
        (
            {"open": "tomorrow"},
            "`open`: `tomorrow` is not of the right form. It takes: Open then, local time: now, 19:30 or"
            " 2026-11-21 19:30.",
        ),
        (
            {"open": "2026-11-23T19:30:00"},
            "A time without an offset needs a place for its time zone: add `near`, `ll` or `market`.",
        ),
        ({"near": "Tivoli", "ll": "55.6737,12.5681"}, "Give `near` or `ll`, not both."),
        (
            {"limit": 0, "neer": "Tivoli", "price_max": "two"},
            f"Unknown argument `neer`. Did you mean `near`? Known: {KNOWN}. `limit`: This must be a whole number from"
            ' 1 to 50, not 0. `price_max`: This must be a whole number from 1 to 4, not "two".',
        ),
        (
            {"limit": 0, "market": "copenhage"},
            "`limit`: This must be a whole number from 1 to 50, not 0. `market`: Unknown market `copenhage`. Did you"
            " mean `copenhagen`? Known: copenhagen.",
        ),
    ],
)
def test_a_search_that_cannot_be_made_says_in_words_what_to_do(
    client: Client, arguments: dict[str, Any], words: str
) -> None:
    builders.market()
    assert refused(client, "search_restaurants", **arguments) == words


def test_what_is_needed_is_asked_for_with_all_else_that_is_wrong(client: Client) -> None:
    words = "`slug`: This is required. `stars`: In the array, 2 of 3: This must be a whole number from 1 to 5, not 6."
    assert refused(client, "list_reviews", stars=[5, 6, "four"]) == words
    result = call(client, "list_reviews", stars=[6])
    assert [problem["param"] for problem in refusal_of(result)["details"]] == ["slug", "stars"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("find_landmark", {"query": ""}, "`query`: This is required."),
        ("find_landmark", {"query": "   "}, "`query`: This is required."),
        ("find_landmark", {"query": "Tivoli\nGardens"}, "`query`: This holds a control character."),
        ("get_restaurant", {"slug": ""}, "`slug`: This is required."),
        (
            "get_export",
            {"export_id": "exp_x"},
            "`export_id`: `exp_x` is not of the right form. It takes: ex_...",
        ),
        (
            "list_reviews",
            {"slug": "noma", "stars": True},
            "`stars`: This must be an array of at least one value, not true; or leave it out.",
        ),
    ],
)
def test_a_call_that_cannot_be_made_says_what_is_wrong(
    client: Client, tool: str, arguments: dict[str, Any], words: str
) -> None:
    assert refused(client, tool, **arguments) == words


def test_an_argument_is_called_in_a_refusal_as_it_is_called_here(client: Client) -> None:
    assert refused(client, "get_surroundings", slug="noma", radius_m=9_999) == (
        "`radius_m`: This must be a whole number from 1 to 3000, not 9999."
    )
    assert "`kinds`: In the array, 1 of 1: Unknown value `parks`. Did you mean `park`?" in refused(
        client, "get_surroundings", slug="noma", kinds=["parks"]
    )


def test_a_day_that_is_in_no_calendar_is_refused(client: Client) -> None:
    assert refused(client, "list_offers", date="2026-02-30") == "`date`: There is no such day in the calendar."


def test_ten_of_many_unknown_arguments_are_named(client: Client) -> None:
    unknown: dict[str, Any] = {f"strange_{number}": 1 for number in range(500)}
    result = call(client, "find_landmark", **unknown)
    assert len(refusal_of(result)["details"]) == 11


def test_null_leaves_an_argument_out_and_a_whole_number_may_be_written_with_a_point(client: Client) -> None:
    builders.market()
    content = call(client, "search_restaurants", market="copenhagen", near=None, cuisine=None, limit=10.0)
    assert content["structuredContent"]["pagination"]["limit"] == 10
    assert refused(client, "get_restaurant", slug=None) == "`slug`: This is required."


def test_arguments_in_other_letters_are_understood(client: Client) -> None:
    builders.restaurant(slug="fiskebar", name="Kødbyens Fiskebar")
    content = call(client, "search_restaurants", q="Kødbyens")
    assert [hit["slug"] for hit in content["structuredContent"]["data"]] == ["fiskebar"]


def test_a_market_is_taken_by_the_name_that_hits_show(client: Client) -> None:
    builders.market("new-york", name="New York", country="US", timezone="America/New_York")
    for name in ("New York", "new york", "new-york"):
        for tool in ("search_restaurants", "list_offers", "find_landmark"):
            query: dict[str, Any] = {"query": "soho"} if tool == "find_landmark" else {}
            assert "isError" not in call(client, tool, market=name, **query)
    unknown = call(client, "search_restaurants", market="Atlantis")
    assert refusal_of(unknown)["param"] == "market"
