"""Which restaurants answer a question."""

from catalogue.search.answer import Attribution, Batch, Hit, Page
from catalogue.search.batch import MOST_SLUGS, look_up
from catalogue.search.finding import find
from catalogue.search.question import (
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
