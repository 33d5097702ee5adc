"""Insights: what the reviews of a restaurant say, each claim with the reviews that carry it."""

from catalogue.insights.staleness import FEWEST_REVIEWS, is_stale
from catalogue.insights.writing import PROVIDER, due, forget, hide, refresh

__all__ = ["FEWEST_REVIEWS", "PROVIDER", "due", "forget", "hide", "is_stale", "refresh"]
