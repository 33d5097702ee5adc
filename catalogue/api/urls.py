"""Paths of the catalogue, below /v1."""

from catalogue import api
from framework.api.routers import OptionalSlashRouter

router = OptionalSlashRouter()
# Routes are tried in this order: the most frequent ones come first.
router.register("restaurants", api.RestaurantViewSet, basename="restaurant")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/reviews", api.ReviewViewSet, basename="review")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/photos", api.PhotoViewSet, basename="photo")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/context", api.ContextViewSet, basename="context")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/insight", api.InsightViewSet, basename="insight")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/history", api.HistoryViewSet, basename="history")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/flow", api.FlowSlotViewSet, basename="flow-slot")
router.register("restaurants/(?P<slug>[a-z0-9-]{1,120})/reports", api.ReportViewSet, basename="report")
router.register("landmarks", api.LandmarkViewSet, basename="landmark")
router.register("markets", api.MarketViewSet, basename="market")
router.register("cuisines", api.CuisineViewSet, basename="cuisine")
router.register("attributes", api.AttributeViewSet, basename="attribute")
router.register("autocomplete", api.AutocompleteViewSet, basename="autocomplete")
router.register("match", api.MatchViewSet, basename="match")
router.register("exports", api.ExportViewSet, basename="export")
router.register("flow/offers", api.FlowOfferViewSet, basename="flow-offer")
router.register("flow/bookings", api.FlowBookingViewSet, basename="flow-booking")
router.register("changes", api.ChangeViewSet, basename="change")

urlpatterns = router.urls
