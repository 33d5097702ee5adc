"""Which restaurants answer a question."""

from catalogue.search.answer import Attribution, Hit, Page, find
from catalogue.search.question import OPEN_AHEAD, OPEN_BEHIND, RADIUS_M, Query, Sort

__all__ = ["OPEN_AHEAD", "OPEN_BEHIND", "RADIUS_M", "Attribution", "Hit", "Page", "Query", "Sort", "find"]
