"""The catalogue's rows, by noun."""

from catalogue.models.context import Landmark, LandmarkName
from catalogue.models.dictionaries import Attribute, Cuisine, Holiday, Market, Source
from catalogue.models.exports import Export, ExportPart, Removal
from catalogue.models.flow import FlowBooking, FlowRule, FlowSlot, Listing
from catalogue.models.imports import ImportRun
from catalogue.models.insights import Insight, InsightCall, InsightDemand
from catalogue.models.matches import MatchCandidate
from catalogue.models.photos import Photo
from catalogue.models.places import Restaurant, SourceRecord
from catalogue.models.reading import Kitchen, Record, SearchRow
from catalogue.models.reports import Report
from catalogue.models.reviews import Review
from catalogue.models.versions import FormerSlug, Version

__all__ = [
    "Attribute",
    "Cuisine",
    "Export",
    "ExportPart",
    "FlowBooking",
    "FlowRule",
    "FlowSlot",
    "FormerSlug",
    "Holiday",
    "ImportRun",
    "Insight",
    "InsightCall",
    "InsightDemand",
    "Kitchen",
    "Landmark",
    "LandmarkName",
    "Listing",
    "Market",
    "MatchCandidate",
    "Photo",
    "Record",
    "Removal",
    "Report",
    "Restaurant",
    "Review",
    "SearchRow",
    "Source",
    "SourceRecord",
    "Version",
]
