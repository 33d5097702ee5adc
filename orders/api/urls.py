"""Paths of orders, below /api/v1."""

from framework.api.routers import OptionalSlashRouter
from orders.api.menu import MenuViewSet
from orders.api.viewsets import OrderViewSet

router = OptionalSlashRouter()
router.register("orders", OrderViewSet, basename="order")
router.register("menu", MenuViewSet, basename="menu")

urlpatterns = router.urls
