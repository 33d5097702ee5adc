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
from framework.api.query_params.declarations import DATE, MOMENT, TIME, Listed, Pages, Parameters, Read, Whole

__all__ = [
    "DATE",
    "LAT",
    "LNG",
    "MOMENT",
    "SLUG",
    "TIME",
    "Area",
    "Days",
    "FacetNames",
    "FieldGroups",
    "Flag",
    "Language",
    "LatLng",
    "Link",
    "Listed",
    "LookUp",
    "OpenAt",
    "Pages",
    "Parameters",
    "PriceLevels",
    "Read",
    "Search",
    "Selection",
    "SortBy",
    "Sought",
    "Stars",
    "Typed",
    "Whole",
    "Words",
]
