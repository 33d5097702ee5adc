"""The catalogue's rows, by noun."""

from catalogue.models.context import Landmark, LandmarkName
from catalogue.models.exports import Export, ExportPart
from catalogue.models.flow import FlowRule
from catalogue.models.imports import ImportRun
from catalogue.models.insights import Insight
from catalogue.models.places import Cuisine, Market, Restaurant, Source, SourceRecord
from catalogue.models.reviews import Review

__all__ = [
    "Cuisine",
    "Export",
    "ExportPart",
    "FlowRule",
    "ImportRun",
    "Insight",
    "Landmark",
    "LandmarkName",
    "Market",
    "Restaurant",
    "Review",
    "Source",
    "SourceRecord",
]
