"""Search for restaurants: filters, ranking, facets and pagination."""

from catalogue.search.by_slugs import MAX_SLUGS, look_up_slugs
from catalogue.search.query import (
    DEFAULT_RADIUS_M,
    MAX_OPEN_AHEAD,
    MAX_OPEN_MINUTES,
    MAX_RADIUS_M,
    OFFER_TIME_TOLERANCE,
    BoundingBox,
    Facet,
    Query,
    Sort,
)
from catalogue.search.results import Batch, Hit, Page
from catalogue.search.service import search_restaurants
