"""Where staff find, read and mend the catalogue."""

from catalogue.admin import (
    context,
    dictionaries,
    exports,
    flow,
    imports,
    insights,
    matches,
    photos,
    places,
    reports,
    reviews,
    versions,
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
