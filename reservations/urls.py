"""Paths of reservations, below /api/v1."""

from config.api.routers import BothSlashes
from reservations.api import ReservationViewSet

router = BothSlashes()
router.register("reservations", ReservationViewSet, basename="reservation")

urlpatterns = router.urls
