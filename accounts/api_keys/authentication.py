"""Reads the credential of a management call and finds whose it is."""

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
from accounts.models import ApiKey, Venue, looks_like_a_key
from framework.django_internals import wrapped_request
from framework.errors import ApiError, ErrorCode

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="tablewire"'}


class Unauthorized(ApiError):
    """Credentials are missing or invalid."""

    code = ErrorCode.INVALID_CREDENTIALS

    def __init__(self, message: str) -> None:
        super().__init__(message, headers=CHALLENGE)


class MissingCredentials(Unauthorized):
    """There is no Authorization header."""

    code = ErrorCode.MISSING_CREDENTIALS


class EndedApiKey(Unauthorized):
    """The key was ours, and is worthless now: its calls are still of its venue."""

    def __init__(self, message: str, *, key: ApiKey) -> None:
        super().__init__(message)
        self.key = key


class ExpiredApiKey(EndedApiKey):
    """Its time is over."""

    code = ErrorCode.EXPIRED_API_KEY


class RevokedApiKey(EndedApiKey):
    """It was taken back."""

    code = ErrorCode.REVOKED_API_KEY


def identify(
    request: HttpRequest, *, now: datetime, find: Callable[[str], ApiKey | None] = api_key_cache.find
) -> ApiKey:
    """The valid key that the request carries, with its venue, as the cache finds it.

    One query at most, and mostly none (accounts.api_keys.cache). Whether the key has ended is judged at each call,
    not when it is looked up. Raises a kind of Unauthorized.
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
        is_whole = looks_like_a_key(text)
        raise Unauthorized(
            "There is no such API key." if is_whole else "This is not an API key: a letter is missing or mistyped."
        )
    state = key.state(now)
    if state == "revoked":
        raise RevokedApiKey("This API key was revoked.", key=key)
    if state == "expired":
        raise ExpiredApiKey("This API key has expired.", key=key)
    return key


class KeyAuthentication(BaseAuthentication):
    """Hands DRF what the doorway found out (accounts.api_keys.rate_limit): no request comes this far without a key."""

    def authenticate(self, request: Request) -> tuple[Venue, ApiKey]:
        """`request.user` is the venue, `request.auth` the key."""
        key: ApiKey = wrapped_request(request).api_key  # type: ignore[attr-defined]
        return key.venue, key

    def authenticate_header(self, request: Request) -> str:
        """The scheme that a 401 asks for."""
        return CHALLENGE["WWW-Authenticate"]


def venue_of(request: Request) -> Venue:
    """The venue that an authenticated call stands for."""
    return cast("Venue", request.user)


def actor_of(request: Request) -> str:
    """Who this call is in the audit trail (Event.actor)."""
    return f"key:{cast('ApiKey', request.auth).start}"


def family_of(request: Request) -> str:
    """Whose Idempotency-Keys this call's is one of: those of the key and of all that replace it."""
    return cast("ApiKey", request.auth).family.hex


def staff(request: HttpRequest) -> str:
    """Who this person of the back office is in the audit trail."""
    return f"staff:{request.user.get_username()}"


class KeyScheme(OpenApiAuthenticationExtension):
    """Documents the key."""

    target_class = KeyAuthentication
    name = "ApiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """The OpenAPI security scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": (
                "The API key of a venue. It may be limited to scopes: each operation names the one that it needs."
            ),
        }

    def get_security_requirement(self, auto_schema: AutoSchema) -> dict[str, list[str]]:
        """The scope that the operation needs, which OpenAPI 3.1 allows to be named here for any kind of scheme."""
        return {self.name: [permissions.needed(auto_schema.view, auto_schema.method)]}
