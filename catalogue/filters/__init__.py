"""The parameters of the catalogue's addresses: how each of them is written, and what it is read as."""

from catalogue.filters.autocomplete import Language, LookUp, Sought, Typed
from catalogue.filters.param_types import (
    LAT,
    LNG,
    SLUG,
    Area,
    FacetNames,
    FieldGroups,
    Flag,
    LatLng,
    OpenAt,
    PriceLevels,
    SortBy,
    Stars,
    Words,
)
from catalogue.filters.record_params import Days, Link, Selection
from catalogue.filters.search import Search
from framework.api.query_params.declarations import (
    DATE_PATTERN,
    DATETIME_PATTERN,
    TIME_PATTERN,
    IntegerParam,
    ListParam,
    PageParams,
    ParsedTextParam,
    QueryParams,
)

__all__ = [
    "DATETIME_PATTERN",
    "DATE_PATTERN",
    "LAT",
    "LNG",
    "SLUG",
    "TIME_PATTERN",
    "Area",
    "Days",
    "FacetNames",
    "FieldGroups",
    "Flag",
    "IntegerParam",
    "Language",
    "LatLng",
    "Link",
    "ListParam",
    "LookUp",
    "OpenAt",
    "PageParams",
    "ParsedTextParam",
    "PriceLevels",
    "QueryParams",
    "Search",
    "Selection",
    "SortBy",
    "Sought",
    "Stars",
    "Typed",
    "Words",
]
