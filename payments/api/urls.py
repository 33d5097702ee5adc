"""Paths of the payments API, below /v1."""

from framework.api.routers import OptionalSlashRouter
from payments.api.auth import AuthViewSet
from payments.api.me import MeViewSet, TierViewSet, WalletViewSet
from payments.api.payments import PaymentViewSet

router = OptionalSlashRouter()
router.register("auth", AuthViewSet, basename="auth")
router.register("me/wallets", WalletViewSet, basename="wallets")
router.register("me", MeViewSet, basename="me")
router.register("tiers", TierViewSet, basename="tiers")
router.register("payments", PaymentViewSet, basename="payments")

urlpatterns = router.urls
