"""The catalogue over HTTP."""

from catalogue.api.context import CuisineViewSet, LandmarkViewSet, MarketViewSet
from catalogue.api.exports import ExportViewSet
from catalogue.api.flow import FlowBookingViewSet, FlowOfferViewSet, FlowSlotViewSet
from catalogue.api.restaurants import RestaurantViewSet

__all__ = [
    "CuisineViewSet",
    "ExportViewSet",
    "FlowBookingViewSet",
    "FlowOfferViewSet",
    "FlowSlotViewSet",
    "LandmarkViewSet",
    "MarketViewSet",
    "RestaurantViewSet",
]
