"""Paths of orders, below /api/v1."""

from rest_framework.routers import SimpleRouter

from orders.api import OrderViewSet

router = SimpleRouter()
# Both slash forms are served, and neither is redirected.
router.trailing_slash = "/?"
router.register("orders", OrderViewSet, basename="order")

urlpatterns = router.urls
