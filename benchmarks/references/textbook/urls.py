"""The same addresses as ours."""

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from benchmarks.references.textbook.views import RestaurantViewSet, ReviewViewSet, livez

router = SimpleRouter(trailing_slash=False)
router.register("v1/restaurants", RestaurantViewSet, basename="restaurant")

urlpatterns = [
    path("livez", livez),
    re_path(r"^v1/restaurants/(?P<slug>[a-z0-9-]{1,120})/reviews$", ReviewViewSet.as_view({"get": "list"})),
    path("", include(router.urls)),
]
