"""The views of payments, by noun."""

from payments.api.auth import AuthViewSet
from payments.api.me import MeViewSet

__all__ = ["AuthViewSet", "MeViewSet"]
