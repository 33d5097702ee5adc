"""The shapes of the catalogue on the wire."""

from catalogue.serializers.autocomplete import MatchAnswer, MatchRecord, SuggestionAnswer, SuggestionRecord
from catalogue.serializers.exports import ExportAnswer, ExportRecord, NewExport
from catalogue.serializers.history import FeedAnswer, HistoryAnswer, feed
from catalogue.serializers.hours import OpeningsRecord
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
from catalogue.serializers.restaurants import RestaurantRecord, content, document
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
    "LandmarkAnswer",
    "LandmarkRecord",
    "MarketAnswer",
    "MarketRecord",
    "MatchAnswer",
    "MatchRecord",
    "NewExport",
    "OpeningsRecord",
    "PaymentRequiredRecord",
    "RestaurantRecord",
    "SearchAnswer",
    "SuggestionAnswer",
    "SuggestionRecord",
    "content",
    "document",
    "feed",
]
