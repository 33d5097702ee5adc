"""Paths of events, webhook endpoints and the clock of a sandbox, below /api/v1 and /api/v2."""

from accounts.api.clock import ClockViewSet
from accounts.api.events import EventViewSet
from accounts.api.webhooks import WebhookViewSet
from framework.api.routers import OptionalSlashRouter

router = OptionalSlashRouter()
router.register("events", EventViewSet, basename="event")
router.register("test", ClockViewSet, basename="clock")
router.register("webhooks", WebhookViewSet, basename="webhook")

urlpatterns = router.urls
