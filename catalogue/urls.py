"""Paths of the catalogue, below /v1."""

from catalogue import api
from config.api.routers import BothSlashes

router = BothSlashes()
router.register("restaurants", api.RestaurantViewSet, basename="restaurant")
router.register("landmarks", api.LandmarkViewSet, basename="landmark")
router.register("markets", api.MarketViewSet, basename="market")
router.register("cuisines", api.CuisineViewSet, basename="cuisine")
router.register("exports", api.ExportViewSet, basename="export")

urlpatterns = router.urls
