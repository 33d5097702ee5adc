"""Documents the sessions of wallets; the doorway has judged the token before any view runs (payments.limits)."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request


class WalletAuthentication(BaseAuthentication):
    """Asks nothing more: who calls stands on the request (payments.callers.caller_of)."""

    def authenticate(self, request: Request) -> None:
        """Everyone may come in."""


class WalletSessionScheme(OpenApiAuthenticationExtension):
    """Documents the session."""

    target_class = WalletAuthentication
    name = "walletSession"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """The OpenAPI security scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "The token of a wallet session, from POST /v1/auth/session. Without one the tier is free.",
        }
