"""Paths of reservations, below /api/v1."""

from framework.api.routers import BothSlashes
from reservations.api.viewsets import ReservationViewSet

router = BothSlashes()
router.register("reservations", ReservationViewSet, basename="reservation")

urlpatterns = router.urls
