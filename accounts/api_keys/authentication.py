"""Authentication of management API calls by API key."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from django.http import HttpRequest
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.api_keys import permissions
from accounts.api_keys.cache import api_key_cache
from accounts.models import ApiKey, Scope, Venue
from accounts.models.api_keys import is_api_key
from framework.django_internals import wrapped_request
from framework.errors import ApiError, ErrorCode

# For programs; the pages have labels of their own.
SCOPE_TEXTS = {
    Scope.ORDERS_READ: "Read orders and the menu",
    Scope.ORDERS_WRITE: "Place orders and change their status",
    Scope.MENU_WRITE: "Change the menu",
    Scope.RESERVATIONS_READ: "Read reservations",
    Scope.RESERVATIONS_WRITE: "Create reservations",
    Scope.WEBHOOKS_READ: "Read webhook endpoints and deliveries",
    Scope.WEBHOOKS_WRITE: "Create and change webhook endpoints",
}
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="tablewire"'}


class Unauthorized(ApiError):
    """Credentials are missing or invalid."""

    code = ErrorCode.INVALID_CREDENTIALS

    def __init__(self, message: str) -> None:
        super().__init__(message, headers=CHALLENGE)


class MissingCredentials(Unauthorized):
    """There is no Authorization header."""

    code = ErrorCode.MISSING_CREDENTIALS


class InactiveApiKey(Unauthorized):
    """The key is expired or revoked. Its calls are still in the request log of its venue."""

    def __init__(self, message: str, *, key: ApiKey) -> None:
        super().__init__(message)
        self.key = key


class ExpiredApiKey(InactiveApiKey):
    code = ErrorCode.EXPIRED_API_KEY


class RevokedApiKey(InactiveApiKey):
    code = ErrorCode.REVOKED_API_KEY


def bearer_token(request: HttpRequest | Request) -> str | None:
    """Return the token of `Authorization: Bearer`; None without one."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def authenticate_request(
    request: HttpRequest, *, now: datetime, find: Callable[[str], ApiKey | None] = api_key_cache.find
) -> ApiKey:
    """Return the active key of the request, with its venue.

    At most one query, usually none (accounts.api_keys.cache). Expiry and revocation are checked at each call, not when
    the key is cached. Raises a subclass of Unauthorized.
    """
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if not header.strip():
        raise MissingCredentials("Send your API key: `Authorization: Bearer <API_KEY>`.")
    scheme, _, text = header.partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not text:
        raise Unauthorized("The Authorization header must read `Bearer <API_KEY>`.")
    key = find(text)
    if key is None:
        raise Unauthorized(
            "There is no such API key."
            if is_api_key(text)
            else "This is not an API key: a character is missing or mistyped."
        )
    state = key.state(now)
    if state == "revoked":
        raise RevokedApiKey("This API key was revoked.", key=key)
    if state == "expired":
        raise ExpiredApiKey("This API key has expired.", key=key)
    return key


class ApiKeyAuthentication(BaseAuthentication):
    """Passes the key of the rate limit middleware to DRF; requests without a key were rejected there."""

    def authenticate(self, request: Request) -> tuple[Venue, ApiKey]:
        """Return the venue as `request.user`, the key as `request.auth`."""
        key: ApiKey = wrapped_request(request).api_key  # type: ignore[attr-defined]
        return key.venue, key

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE["WWW-Authenticate"]


def get_request_venue(request: Request) -> Venue:
    """Return the venue of an authenticated request."""
    return cast("Venue", request.user)


def get_key_actor(request: Request) -> str:
    """Return the actor of the request in the audit trail (Event.actor)."""
    key = cast("ApiKey", request.auth)
    return f"app:{key.name}" if key.app_id else f"key:{key.start}"


def get_key_family(request: Request) -> str:
    """Return the scope of Idempotency-Keys: the key with its predecessors and replacements."""
    return cast("ApiKey", request.auth).family.hex


def get_staff_actor(request: HttpRequest) -> str:
    """Return the actor of a back office request in the audit trail."""
    return f"staff:{request.user.get_username()}"


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """The security schemes in the OpenAPI document."""

    target_class = ApiKeyAuthentication
    name = ["ApiKey", "OAuth"]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        text = (
            "The API key of a venue. It may be limited to scopes: each operation names the one that it needs, or"
            " several of which one is enough."
        )
        app_text = (
            "An access token of an app (docs/apps.md). A token for several venues names one in the header"
            " `Tablewire-Venue`."
        )
        scopes = {scope.value: label for scope, label in SCOPE_TEXTS.items()}
        code = {"authorizationUrl": "/oauth/authorize", "tokenUrl": "/oauth/token", "refreshUrl": "/oauth/token"}
        flows = {
            "authorizationCode": code | {"scopes": scopes},
            "clientCredentials": {"tokenUrl": "/oauth/token", "scopes": scopes},
        }
        return [
            {"type": "http", "scheme": "bearer", "description": text},
            {"type": "oauth2", "description": app_text, "flows": flows},
        ]

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[str]]]:
        # OpenAPI 3.1 allows scopes for any type of scheme.
        scopes = permissions.get_required_scopes(auto_schema.view, auto_schema.method)
        return [{name: [scope]} for name in self.name for scope in scopes]
