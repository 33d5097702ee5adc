"""Paths of reservations, below /api/v1."""

from framework.api.routers import OptionalSlashRouter
from reservations.api.viewsets import ReservationViewSet

router = OptionalSlashRouter()
router.register("reservations", ReservationViewSet, basename="reservation")

urlpatterns = router.urls
