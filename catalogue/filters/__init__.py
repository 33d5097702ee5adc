"""Query parameters of the catalogue."""

from catalogue.filters.autocomplete import AutocompleteParams, CuisineParams, LandmarkParams, MatchParams
from catalogue.filters.param_types import SLUG, Words
from catalogue.filters.record_params import DownloadParams, HoursParams
from catalogue.filters.search import SearchParams
from framework.api.query_params.declarations import IntegerParam, ListParam, PageParams, QueryParams

__all__ = [
    "SLUG",
    "AutocompleteParams",
    "CuisineParams",
    "DownloadParams",
    "HoursParams",
    "IntegerParam",
    "LandmarkParams",
    "ListParam",
    "MatchParams",
    "PageParams",
    "QueryParams",
    "SearchParams",
    "Words",
]
