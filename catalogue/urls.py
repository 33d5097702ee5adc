"""Paths of the catalogue, below /v1."""

from rest_framework.routers import SimpleRouter

from catalogue import api

router = SimpleRouter()
# Both slash forms are served, and neither is redirected.
router.trailing_slash = "/?"
router.register("restaurants", api.RestaurantViewSet, basename="restaurant")
router.register("landmarks", api.LandmarkViewSet, basename="landmark")
router.register("markets", api.MarketViewSet, basename="market")
router.register("cuisines", api.CuisineViewSet, basename="cuisine")

urlpatterns = router.urls
