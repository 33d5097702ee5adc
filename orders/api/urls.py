"""Paths of orders, below /api/v1."""

from framework.api.routers import OptionalSlashRouter
from orders.api.viewsets import OrderViewSet

router = OptionalSlashRouter()
router.register("orders", OrderViewSet, basename="order")

urlpatterns = router.urls
