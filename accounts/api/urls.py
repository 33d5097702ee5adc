"""Paths of events, below /api/v1 and /api/v2."""

from accounts.api.events import EventViewSet
from framework.api.routers import OptionalSlashRouter

router = OptionalSlashRouter()
router.register("events", EventViewSet, basename="event")

urlpatterns = router.urls
