"""Serializers of the catalogue's REST API."""

from catalogue.serializers.autocomplete import MatchAnswer, MatchRecord, SuggestionAnswer, SuggestionRecord
from catalogue.serializers.exports import ExportAnswer, ExportRecord, NewExport
from catalogue.serializers.history import FeedAnswer, HistoryAnswer, render_changes
from catalogue.serializers.hours import HoursForDatesRecord
from catalogue.serializers.landmarks import (
    AttributeAnswer,
    AttributeRecord,
    CuisineAnswer,
    CuisineRecord,
    LandmarkAnswer,
    LandmarkRecord,
    MarketAnswer,
    MarketRecord,
)
from catalogue.serializers.payment_required import PaymentRequiredRecord
from catalogue.serializers.restaurants import RestaurantRecord, render_etag_content, render_record
from catalogue.serializers.search import BatchAnswer, SearchAnswer
from catalogue.serializers.shared import SLUG

__all__ = [
    "SLUG",
    "AttributeAnswer",
    "AttributeRecord",
    "BatchAnswer",
    "CuisineAnswer",
    "CuisineRecord",
    "ExportAnswer",
    "ExportRecord",
    "FeedAnswer",
    "HistoryAnswer",
    "HoursForDatesRecord",
    "LandmarkAnswer",
    "LandmarkRecord",
    "MarketAnswer",
    "MarketRecord",
    "MatchAnswer",
    "MatchRecord",
    "NewExport",
    "PaymentRequiredRecord",
    "RestaurantRecord",
    "SearchAnswer",
    "SuggestionAnswer",
    "SuggestionRecord",
    "render_changes",
    "render_etag_content",
    "render_record",
]
