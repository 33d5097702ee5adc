"""Paths of the payments API, below /v1."""

from framework.api.routers import OptionalSlashRouter
from payments import api

router = OptionalSlashRouter()
router.register("auth", api.AuthViewSet, basename="auth")
router.register("me/wallets", api.WalletViewSet, basename="wallets")
router.register("me", api.MeViewSet, basename="me")
router.register("payments", api.PaymentViewSet, basename="payments")

urlpatterns = router.urls
