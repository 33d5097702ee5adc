"""The views of the payments API."""

from payments.api.auth import AuthViewSet
from payments.api.me import MeViewSet
from payments.api.payments import PaymentViewSet
from payments.api.wallets import WalletViewSet

__all__ = ["AuthViewSet", "MeViewSet", "PaymentViewSet", "WalletViewSet"]
