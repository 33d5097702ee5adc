"""The catalogue over HTTP."""

from catalogue.api.context import CuisineViewSet, LandmarkViewSet, MarketViewSet
from catalogue.api.exports import ExportViewSet
from catalogue.api.restaurants import RestaurantViewSet

__all__ = ["CuisineViewSet", "ExportViewSet", "LandmarkViewSet", "MarketViewSet", "RestaurantViewSet"]
