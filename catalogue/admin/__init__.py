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
    "context",
    "dictionaries",
    "exports",
    "flow",
    "imports",
    "insights",
    "matches",
    "photos",
    "places",
    "reports",
    "reviews",
    "versions",
]
