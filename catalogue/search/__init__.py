"""Search for restaurants: filters, ranking, facets and pagination."""

from catalogue.search.by_slugs import MAX_SLUGS, look_up_slugs, resolve_slugs
from catalogue.search.query import (
    DEFAULT_RADIUS_M,
    INTERVALS_AHEAD,
    MAX_OPEN_AHEAD,
    MAX_OPEN_MINUTES,
    MAX_RADIUS_M,
    OFFER_TIME_TOLERANCE,
    BoundingBox,
    Facet,
    Query,
    Sort,
)
from catalogue.search.restaurant_search import search_restaurants
from catalogue.search.results import Batch, Hit, Page
