"""Insights: what the reviews of a restaurant say, each claim with the reviews that carry it."""

from catalogue.insights.approval import approve, is_waiting, waiting
from catalogue.insights.chosen import FALLBACK, Author, chosen
from catalogue.insights.demand import Met, meet, note
from catalogue.insights.staleness import FEWEST_REVIEWS, is_stale
from catalogue.insights.writing import due, forget, forget_demand, hide, refresh

__all__ = [
    "FALLBACK",
    "FEWEST_REVIEWS",
    "Author",
    "Met",
    "approve",
    "chosen",
    "due",
    "forget",
    "forget_demand",
    "hide",
    "is_stale",
    "is_waiting",
    "meet",
    "note",
    "refresh",
    "waiting",
]
