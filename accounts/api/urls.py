"""Paths of events and webhook endpoints, below /api/v1 and /api/v2."""

from accounts.api.events import EventViewSet
from accounts.api.webhooks import WebhookViewSet
from framework.api.routers import OptionalSlashRouter

router = OptionalSlashRouter()
router.register("events", EventViewSet, basename="event")
router.register("webhooks", WebhookViewSet, basename="webhook")

urlpatterns = router.urls
