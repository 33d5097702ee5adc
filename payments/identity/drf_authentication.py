"""The base of the data API's views. The middleware payments.rate_limits has identified the caller before."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from framework.api.viewsets import Row, StrictViewSet
from payments.identity import siwx


class WalletAuthentication(BaseAuthentication):
    """Documents the credentials in OpenAPI; the middleware has verified them (payments.identity.caller)."""

    def authenticate(self, request: Request) -> None:
        return None


class DataViewSet(StrictViewSet[Row]):
    """A resource of the data API, open to anonymous callers. Each operation parses its own query string."""

    authentication_classes = [WalletAuthentication]
    permission_classes = [AllowAny]
    filter_backends = []

    def perform_authentication(self, request: Request) -> None:
        pass


class CallerSchemes(OpenApiAuthenticationExtension):
    """The OpenAPI security schemes of the Bearer token and the signed challenge."""

    target_class = WalletAuthentication
    name = ["walletSession", "signedChallenge"]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        return [
            {
                "type": "http",
                "scheme": "bearer",
                "description": (
                    "The token of a wallet session, from POST /v1/auth/session, or an API key of an account with"
                    " linked wallets or a plan, or an access token of an app (OAuth, docs/apps.md). Without one the"
                    " tier is free."
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
        return [{name: []} for name in self.name]
