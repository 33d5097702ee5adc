"""Paths of orders, below /api/v1."""

from config.api.routers import BothSlashes
from orders.api import OrderViewSet

router = BothSlashes()
router.register("orders", OrderViewSet, basename="order")

urlpatterns = router.urls
