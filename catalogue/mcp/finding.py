"""Tools that find restaurants and places."""

import orjson

from catalogue import contents, filters
from catalogue.filters.history import LookBack
from catalogue.mcp import selling
from config.mcp import schemas
from config.mcp.answers import Result
from config.mcp.schemas import Schema
from config.mcp.tools import Call, Tool, Values

# Of a hit: what an agent chooses by, in about 60 tokens. The record has everything.
HIT = (
    "slug",
    "name",
    "neighborhood",
    "cuisine",
    "rating",
    "review_count",
    "price_level",
    "walking_minutes",
    "open_now",
    "flow_offer",
)


def search_restaurants(call: Call, asked: Values) -> Result:
    """A page of hits."""
    content = contents.found(asked, now=call.now)
    page = orjson.loads(content.body)
    page["data"] = [{name: hit[name] for name in HIT} for hit in page["data"]]
    return Result(orjson.dumps(page))


def found() -> Schema:
    """The schema of a page of hits."""
    only = {"Hit": HIT, "SearchAnswer": ("data", "pagination", "query", "attribution")}
    return schemas.result("SearchAnswer", only=only)


def get_restaurant(call: Call, asked: Values) -> Result:
    """A restaurant."""
    return selling.served(call, contents.restaurant(asked.pop("slug"), asked, now=call.now))


def find_landmark(call: Call, asked: Values) -> Result:
    """Landmarks."""
    return Result(contents.places(asked, now=call.now).body)


SLUG_WORDS = "Slug of the restaurant, as search_restaurants gives it."

SEARCH_RESTAURANTS = Tool(
    name="search_restaurants",
    title="Search restaurants",
    description=(
        "Finds restaurants around a place, by words, cuisine, price, rating and what is open now; use it first, its"
        " slugs are what the other tools take. Free. At most 50 on a page; the next page by `cursor`."
    ),
    operation="search_restaurants",
    takes={
        "near": "A landmark, neighborhood or city by name: `Tivoli`; a market after a comma tells equal names apart.",
        "ll": "Or a point: latitude,longitude.",
        "radius": "Metres around it; 1500 when left out.",
        "q": "Words of the name, cuisine or a dish.",
        "market": "Slug of a market: see restaurants://markets.",
        "cuisine": "Slugs of cuisines, any of them: seafood.",
        "open": "`now`, a time HH:MM of the place, or a moment of RFC 3339.",
        "rating_min": "Lowest stars.",
        "price_max": "Highest price level.",
        "sort": "`best` is by relevance with `q`, by distance around a place, else by number of reviews.",
        "limit": "Restaurants on a page.",
        "cursor": "`next_cursor` of the page before, with the same arguments.",
    },
    presets={"limit": 10},
    reads=filters.Search,
    gives=found,
    run=search_restaurants,
)

GET_RESTAURANT = Tool(
    name="get_restaurant",
    title="Look a restaurant up",
    description=(
        "Everything known of one restaurant: address, hours, phone, amenities, next offer. `core` is free; the groups"
        " reviews, photos, context, ai_insight and history are paid for by x402, in one call for all that are asked"
        " for."
    ),
    operation="get_restaurant",
    takes={"slug": SLUG_WORDS, "fields": "Field groups; `core` alone when left out."},
    needs=["slug"],
    reads=LookBack,
    gives=lambda: schemas.result(
        "RestaurantRecord",
        opaque=(
            "ReviewsRecord",
            "PhotosRecord",
            "ContextRecord",
            "InsightRecord",
            "EntryRecord",
            "PeriodRecord",
            "SpecialDayRecord",
            "SourceRecord",
        ),
    ),
    is_sold=True,
    run=get_restaurant,
)

FIND_LANDMARK = Tool(
    name="find_landmark",
    title="Find a landmark",
    description=(
        "Landmarks, museums, parks, stations, neighborhoods and cities by name, also misspelt; use it when a search"
        " says that it does not know the place. Free."
    ),
    operation="search_landmarks",
    takes={
        "query": "What it is called, or how that begins.",
        "market": "Slug of a market: see restaurants://markets.",
        "limit": "Landmarks, at most.",
    },
    needs=["query"],
    presets={"limit": 10},
    known_as={"query": "q"},
    reads=filters.LookUp,
    gives=lambda: schemas.result("LandmarkAnswer"),
    run=find_landmark,
)
