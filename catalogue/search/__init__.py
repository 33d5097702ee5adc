"""Which restaurants answer a question."""

from catalogue.search.by_slugs import MOST_SLUGS, look_up
from catalogue.search.query import (
    MOST_OPEN_MINUTES,
    MOST_RADIUS_M,
    OFFER_WITHIN,
    OPEN_AHEAD,
    OPEN_BEHIND,
    RADIUS_M,
    Box,
    Facet,
    Query,
    Sort,
)
from catalogue.search.results import Attribution, Batch, Hit, Page
from catalogue.search.service import find

__all__ = [
    "MOST_OPEN_MINUTES",
    "MOST_RADIUS_M",
    "MOST_SLUGS",
    "OFFER_WITHIN",
    "OPEN_AHEAD",
    "OPEN_BEHIND",
    "RADIUS_M",
    "Attribution",
    "Batch",
    "Box",
    "Facet",
    "Hit",
    "Page",
    "Query",
    "Sort",
    "find",
    "look_up",
]
