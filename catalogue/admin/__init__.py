"""The back office of the catalogue."""

from catalogue.admin import (
    duplicates,
    exports,
    history,
    imports,
    insights,
    landmarks,
    offers,
    photos,
    reference_data,
    reports,
    restaurants,
    reviews,
)

__all__ = [
    "duplicates",
    "exports",
    "history",
    "imports",
    "insights",
    "landmarks",
    "offers",
    "photos",
    "reference_data",
    "reports",
    "restaurants",
    "reviews",
]
