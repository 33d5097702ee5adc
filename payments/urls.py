"""Paths of payments, below /v1."""

from config.api.routers import BothSlashes
from payments import api

router = BothSlashes()
router.register("auth", api.AuthViewSet, basename="auth")
router.register("me", api.MeViewSet, basename="me")

urlpatterns = router.urls
