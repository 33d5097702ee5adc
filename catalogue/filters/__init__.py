"""The parameters of the catalogue's addresses: how each of them is written, and what it is read as."""

from catalogue.filters.fields import (
    DATE,
    LAT,
    LNG,
    MOMENT,
    SLUG,
    TIME,
    FieldGroups,
    LatLng,
    Listed,
    OpenAt,
    Parameters,
    PriceLevels,
    Read,
    SortBy,
    Stars,
    Whole,
    Words,
)
from catalogue.filters.records import Days, Link, LookUp, Pages, Selection
from catalogue.filters.search import Search

__all__ = [
    "DATE",
    "LAT",
    "LNG",
    "MOMENT",
    "SLUG",
    "TIME",
    "Days",
    "FieldGroups",
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
    "Stars",
    "Whole",
    "Words",
]
