"""The base of the data API's views; the middleware payments.rate_limits has identified the caller before."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from framework.api.viewsets import Row, StrictViewSet
from payments.identity import siwx


class WalletAuthentication(BaseAuthentication):
    """Asks nothing more: who calls stands on the request (payments.identity.caller.caller_of)."""

    def authenticate(self, request: Request) -> None:
        """Everyone may come in."""


class DataViewSet(StrictViewSet[Row]):
    """A resource of the data API: anybody may call it, and who calls stands on the request.

    Each operation says itself what of its query string it reads.
    """

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
    filter_backends = []

    def perform_authentication(self, request: Request) -> None:
        """Nothing is left to find out."""


class CallerSchemes(OpenApiAuthenticationExtension):
    """Documents the Bearer token and the signed challenge."""

    target_class = WalletAuthentication
    name = ["walletSession", "signedChallenge"]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        """The OpenAPI security schemes."""
        return [
            {
                "type": "http",
                "scheme": "bearer",
                "description": (
                    "The token of a wallet session, from POST /v1/auth/session, or an API key of an account with"
                    " linked wallets or a plan. Without either the tier is free."
                ),
            },
            {
                "type": "apiKey",
                "in": "header",
                "name": siwx.HEADER,
                "description": (
                    "A challenge of GET /v1/auth/challenge, signed, as x402 clients send it. Each is good for one"
                    " request."
                ),
            },
        ]

    def get_security_requirement(self, auto_schema: AutoSchema) -> Any:
        """Either of them."""
        return [{name: []} for name in self.name]
