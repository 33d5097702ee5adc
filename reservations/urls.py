"""Paths of reservations, below /api/v1."""

from rest_framework.routers import SimpleRouter

from reservations.api import ReservationViewSet

router = SimpleRouter()
# Both slash forms are served, and neither is redirected.
router.trailing_slash = "/?"
router.register("reservations", ReservationViewSet, basename="reservation")

urlpatterns = router.urls
