"""Paths of the catalogue, below /v1."""

from catalogue.api import bookings, exports, lookups, offers, restaurants
from framework.api.routers import OptionalSlashRouter

router = OptionalSlashRouter()
# Routes are tried in this order: the most frequent ones come first.
router.register("restaurants", restaurants.RestaurantViewSet, basename="restaurant")
router.register("landmarks", lookups.LandmarkViewSet, basename="landmark")
router.register("markets", lookups.MarketViewSet, basename="market")
router.register("cuisines", lookups.CuisineViewSet, basename="cuisine")
router.register("attributes", lookups.AttributeViewSet, basename="attribute")
router.register("autocomplete", lookups.AutocompleteViewSet, basename="autocomplete")
router.register("match", lookups.MatchViewSet, basename="match")
router.register("exports", exports.ExportViewSet, basename="export")
router.register("flow/offers", offers.FlowOfferViewSet, basename="flow-offer")
router.register("flow/bookings", offers.FlowBookingViewSet, basename="flow-booking")
router.register("bookings", bookings.BookingViewSet, basename="booking")
router.register("reviews", restaurants.ReviewViewSet, basename="review")
router.register("changes", restaurants.ChangeViewSet, basename="change")

urlpatterns = router.urls
