"""Paths of the catalogue, below /v1."""

from catalogue import api
from config.api.routers import BothSlashes

router = BothSlashes()
router.register("restaurants", api.RestaurantViewSet, basename="restaurant")
router.register("landmarks", api.LandmarkViewSet, basename="landmark")
router.register("markets", api.MarketViewSet, basename="market")
router.register("cuisines", api.CuisineViewSet, basename="cuisine")
router.register("exports", api.ExportViewSet, basename="export")
router.register("flow/offers", api.FlowOfferViewSet, basename="flow-offer")
router.register("flow/bookings", api.FlowBookingViewSet, basename="flow-booking")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/flow", api.FlowSlotViewSet, basename="flow-slot")

urlpatterns = router.urls
