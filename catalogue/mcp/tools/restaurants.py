"""Tools that search restaurants and landmarks, and read a restaurant and its paid field groups."""

from datetime import datetime
from functools import partial

import orjson

from catalogue import responses
from catalogue.field_groups import CORE, GROUPS
from catalogue.filters import lookups, restaurants, search
from catalogue.hours import date_range
from catalogue.mcp import paywall
from catalogue.mcp.tools.declarations import DECLARATIONS, SLUG_HINT, declare, result_schema
from catalogue.models import Restaurant
from catalogue.moderation import reports
from catalogue.search.query import Sort
from catalogue.serializers.reports import NewReport, ReportRecord
from catalogue.serializers.restaurants import HoursForDatesRecord
from catalogue.serializers.shared import SLUG
from framework import timezones
from framework.api.fields import TextField
from framework.api.rate_limits.client_ip import client_network
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import ToolCall, Values

# The members of a hit at REST that an agent selects by; with the address about 75 tokens.
HIT = DECLARATIONS["search_restaurants"]["result"]["members"]["Hit"]


# What agents do not read of a record.
LEFT_OUT_OF_HOURS = ("periods", "osm")
LEFT_OUT_OF_RECORD = ("sources", "external_ids")

# The field groups of a record that are sold.
PARTS = [name for name, group in GROUPS.items() if group.product]


class ReportArguments(NewReport):
    """The arguments of report_problem."""

    slug = TextField(max_length=120, pattern=SLUG, hint=f"This must be {SLUG_HINT}")


def search_restaurants(call: ToolCall, values: Values) -> ToolResult:
    # Alone it would leave out all restaurants without a discount, as it does at REST, whose parameters of offers are
    # no arguments here.
    if "party_size" in values and "bookable_at" not in values and values.get("sort") != Sort.OFFER:
        raise InvalidRequest(
            "`party_size` is for `bookable_at`, or for the discounts of `sort` offer: add one of them, or leave it"
            " out.",
            param="party_size",
        )
    page = orjson.loads(responses.search_results(values, now=call.now).body)
    # With another `open` than now, `open_now` would be mistaken for the answer.
    members = [name for name in HIT if name != "open_now" or values.get("open", "now") == "now"]
    # The address tells restaurants of one name apart. One query.
    slugs = [hit["slug"] for hit in page["data"]]
    rows = Restaurant.objects.filter(slug__in=slugs).values_list("slug", "line1", "market__timezone")
    found = {slug: (line, zone) for slug, line, zone in rows}
    page["data"] = [
        {**{name: hit[name] for name in members}, "address": found.get(hit["slug"], (None,))[0]}
        for hit in page["data"]
    ]
    if page["query"]["open_at"] and found:
        # By the clock of the hits, as their other times.
        _, zone = next(iter(found.values()))
        open_at = datetime.fromisoformat(page["query"]["open_at"])
        page["query"]["open_at"] = open_at.astimezone(timezones.zone(zone)).isoformat()
    return ToolResult(orjson.dumps(page))


def search_result() -> Schema:
    """The declared result, whose hits have an address, too."""
    schema = result_schema("search_restaurants")
    schema["properties"]["data"]["items"]["properties"]["address"] = {"type": ["string", "null"]}
    return schema


def find_landmark(call: ToolCall, values: Values) -> ToolResult:
    return ToolResult(responses.landmarks(values, now=call.now).body)


def get_restaurant(call: ToolCall, values: Values) -> ToolResult:
    return ToolResult(core_record(values["slug"], now=call.now))


def core_record(slug: str, *, now: datetime) -> bytes:
    """The free record as agents read it. Raises RestaurantNotFound, Renamed and Gone.

    Without the periods of the week, which `display` and get_hours have in words, and the record's own sources, whose
    attribution it keeps.
    """
    record = orjson.loads(responses.restaurant(slug, {"fields": (CORE,)}, now=now).body)
    if record["hours"]:
        record["hours"] = {name: value for name, value in record["hours"].items() if name not in LEFT_OUT_OF_HOURS}
    return orjson.dumps({name: value for name, value in record.items() if name not in LEFT_OUT_OF_RECORD})


def record_result() -> Schema:
    """The declared result, without what is left out."""
    schema = result_schema("get_restaurant")
    for name in LEFT_OUT_OF_RECORD:
        del schema["properties"][name]
    for name in LEFT_OUT_OF_HOURS:
        del schema["properties"]["hours"]["properties"][name]
    return schema


def buy_parts(call: ToolCall, values: Values) -> ToolResult:
    is_buyer = partial(paywall.is_buyer, call, "ai_insight")
    return paywall.deliver(call, responses.restaurant(values.pop("slug"), values, now=call.now, is_buyer=is_buyer))


def get_menu(call: ToolCall, values: Values) -> ToolResult:
    return ToolResult(responses.restaurant(values["slug"], {"fields": ["menu"]}, now=call.now).body)


def get_hours(call: ToolCall, values: Values) -> ToolResult:
    first = values["from"]
    found = date_range.list_hours(values["slug"], first=first, last=values.get("to", first), now=call.now)
    return ToolResult(JSONRenderer().render(HoursForDatesRecord(found).data))


def get_review(call: ToolCall, values: Values) -> ToolResult:
    has_bought = partial(paywall.has_bought_insight, call)
    return paywall.deliver(call, responses.review(values["review_id"], now=call.now, has_bought_insight=has_bought))


def report_problem(call: ToolCall, values: Values) -> ToolResult:
    reporter = reports.hash_reporter(client_network(call.request))
    filed = reports.file_report(values.pop("slug"), **values, reporter=reporter, now=call.now)
    return ToolResult(JSONRenderer().render(ReportRecord(filed.report).data))


def list_reviews(call: ToolCall, values: Values) -> ToolResult:
    has_bought = partial(paywall.has_bought_insight, call)
    slug = values.pop("slug")
    return paywall.deliver(call, responses.reviews(slug, values, now=call.now, has_bought_insight=has_bought))


def list_photos(call: ToolCall, values: Values) -> ToolResult:
    return paywall.deliver(call, responses.photos(values.pop("slug"), values, now=call.now))


def get_surroundings(call: ToolCall, values: Values) -> ToolResult:
    return paywall.deliver(call, responses.context(values.pop("slug"), values))


def get_insight(call: ToolCall, values: Values) -> ToolResult:
    is_buyer = partial(paywall.is_buyer, call, "ai_insight")
    return paywall.deliver(call, responses.insight(values.pop("slug"), values, now=call.now, is_buyer=is_buyer))


def get_history(call: ToolCall, values: Values) -> ToolResult:
    return paywall.deliver(call, responses.versions(values.pop("slug"), values, now=call.now))


SEARCH_RESTAURANTS = declare(
    "search_restaurants", search_restaurants, serializer=search.SearchParams, output=search_result
)
FIND_LANDMARK = declare("find_landmark", find_landmark, serializer=lookups.LandmarkParams)
GET_RESTAURANT = declare(
    "get_restaurant", get_restaurant, serializer=restaurants.RestaurantParams, output=record_result
)
GET_MENU = declare("get_menu", get_menu, serializer=restaurants.RestaurantParams)
GET_HOURS = declare("get_hours", get_hours, serializer=restaurants.HoursParams)
LIST_REVIEWS = declare("list_reviews", list_reviews, serializer=restaurants.ReviewParams)
GET_REVIEW = declare("get_review", get_review, serializer=None)
LIST_PHOTOS = declare("list_photos", list_photos, serializer=restaurants.PhotoParams)
GET_SURROUNDINGS = declare("get_surroundings", get_surroundings, serializer=restaurants.ContextParams)
GET_INSIGHT = declare("get_insight", get_insight, serializer=restaurants.InsightParams)
GET_HISTORY = declare("get_history", get_history, serializer=restaurants.HistoryParams)
BUY_PARTS = declare(
    "buy_parts",
    buy_parts,
    serializer=restaurants.RestaurantParams,
    own_schemas={"fields": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": PARTS}}},
)
REPORT_PROBLEM = declare("report_problem", report_problem, serializer=ReportArguments)
