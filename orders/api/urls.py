"""Paths of orders, below /api/v1."""

from django.urls import re_path

from framework.api.routers import OptionalSlashRouter
from orders.api.menu import MenuItemViewSet, MenuViewSet
from orders.api.viewsets import OrderViewSet

router = OptionalSlashRouter()
router.register("orders", OrderViewSet, basename="order")
router.register("menu/items", MenuItemViewSet, basename="menu-item")

urlpatterns = [
    re_path("^menu/?$", MenuViewSet.as_view({"get": "list", "put": "replace"}), name="menu-list"),
    *router.urls,
]
