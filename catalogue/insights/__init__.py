"""Insights: what the reviews of a restaurant say, each claim with the reviews that carry it."""

from catalogue.insights.pipeline.approval import approve, is_waiting, waiting
from catalogue.insights.pipeline.on_demand import Met, meet, note
from catalogue.insights.pipeline.refresh import due, forget, forget_demand, hide, refresh
from catalogue.insights.pipeline.staleness import FEWEST_REVIEWS, is_stale
from catalogue.insights.providers.registry import FALLBACK, Author, chosen

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
