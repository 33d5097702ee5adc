"""Paths of orders, below /api/v1."""

from framework.api.routers import BothSlashes
from orders.api.viewsets import OrderViewSet

router = BothSlashes()
router.register("orders", OrderViewSet, basename="order")

urlpatterns = router.urls
