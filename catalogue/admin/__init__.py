"""The admin of the catalogue. Importing these modules registers their model admins."""

from catalogue.admin import exports, imports, landmarks, offers, photos, reference_data, reviews
from catalogue.admin.insights import insights
from catalogue.admin.queues import duplicates, reports
from catalogue.admin.restaurants import restaurants, versions

__all__ = [
    "duplicates",
    "exports",
    "imports",
    "insights",
    "landmarks",
    "offers",
    "photos",
    "reference_data",
    "reports",
    "restaurants",
    "reviews",
    "versions",
]
