"""REST views of the catalogue."""

from catalogue.api.autocomplete import AutocompleteViewSet, MatchViewSet
from catalogue.api.exports import ExportViewSet
from catalogue.api.history import ChangeViewSet, HistoryViewSet
from catalogue.api.landmarks import AttributeViewSet, CuisineViewSet, LandmarkViewSet, MarketViewSet
from catalogue.api.offers import FlowBookingViewSet, FlowOfferViewSet, FlowSlotViewSet
from catalogue.api.paid_groups import ContextViewSet, InsightViewSet, PhotoViewSet, ReviewViewSet
from catalogue.api.reports import ReportViewSet
from catalogue.api.restaurants import RestaurantViewSet

__all__ = [
    "AttributeViewSet",
    "AutocompleteViewSet",
    "ChangeViewSet",
    "ContextViewSet",
    "CuisineViewSet",
    "ExportViewSet",
    "FlowBookingViewSet",
    "FlowOfferViewSet",
    "FlowSlotViewSet",
    "HistoryViewSet",
    "InsightViewSet",
    "LandmarkViewSet",
    "MarketViewSet",
    "MatchViewSet",
    "PhotoViewSet",
    "ReportViewSet",
    "RestaurantViewSet",
    "ReviewViewSet",
]
