"""Endpoints of the authorization server for programs: tokens, revocation, registration, metadata. Without cookies."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, reverse
from django.views.decorators.csrf import csrf_exempt

from accounts.oauth import registration, server
from accounts.oauth.redirect_uris import InvalidRedirectUri
from accounts.oauth.resources import BY_PATH, METADATA_PATH, SCOPES, Resource, issuer, resource_uri
from framework.api import error_handler
from framework.api.rate_limits.client_ip import address_bucket, client_network
from framework.api.rate_limits.middleware import Allowance, RateLimitExceeded, count_call, set_rate_headers
from framework.api.urls import public_url
from framework.errors import NotFound

MAX_BODY_BYTES = 64 * 1024
# Requests a minute by one address to the endpoints for tokens. A hosted client asks for all of its users.
MAX_REQUESTS = 600
WINDOW_S = 60
# Metadata changes with a release.
METADATA_AGE_S = 300

View = Callable[..., HttpResponse]


def error_response(error: str, description: str, *, status: int = 400, **headers: str) -> HttpResponse:
    """Return an error in the format of OAuth (RFC 6749, section 5.2)."""
    body = {"error": error, "error_description": description}
    return JsonResponse(body, status=status, headers=server.NO_STORE | headers)


def endpoint(view: View) -> View:
    """Serve POST only, without CSRF tokens as no cookie counts, within the limits of size and frequency."""

    @csrf_exempt
    @wraps(view)
    def serve(request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return error_response("invalid_request", "Send a POST request.", status=405, Allow="POST")
        usage = count_call("oauth-token", Allowance(address_bucket(request), MAX_REQUESTS, WINDOW_S))
        if usage.count > usage.limit:
            wait_s = str(max(usage.wait_s, 1))
            text = f"At most {MAX_REQUESTS} requests a minute; the next in {wait_s} s."
            response = error_response("temporarily_unavailable", text, status=429, **{"Retry-After": wait_s})
        # A body without a length is not read.
        elif int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
            response = error_response("invalid_request", f"A body has at most {MAX_BODY_BYTES} bytes.", status=413)
        else:
            response = view(request)
        set_rate_headers(response, usage)
        return response

    return serve


@endpoint
def issue_token(request: HttpRequest) -> HttpResponse:
    """The token endpoint."""
    if request.content_type != "application/x-www-form-urlencoded":
        return error_response("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
    return server.answer_token_request(request)


@endpoint
def revoke_token(request: HttpRequest) -> HttpResponse:
    """The revocation endpoint (RFC 7009)."""
    if request.content_type != "application/x-www-form-urlencoded":
        return error_response("invalid_request", "Send the parameters as application/x-www-form-urlencoded.")
    return server.answer_revocation(request)


@endpoint
def register(request: HttpRequest) -> HttpResponse:
    """The registration endpoint (RFC 7591), for public clients."""
    try:
        values = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return error_response("invalid_client_metadata", "The body is not JSON.")
    try:
        app = registration.register_dynamically(values, address=client_network(request))
    except InvalidRedirectUri as error:
        return error_response("invalid_redirect_uri", error.message)
    except registration.InvalidClientMetadata as error:
        return error_response("invalid_client_metadata", error.message)
    except RateLimitExceeded as error:
        return error_response("temporarily_unavailable", error.message, status=429, **error.headers)
    body = {
        "client_id": app.client_id,
        "client_id_issued_at": int(app.created_at.timestamp()),
        "client_name": app.name,
        "redirect_uris": app.redirect_uris,
        "grant_types": list(registration.GRANT_TYPES),
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return JsonResponse(body, status=201, headers=server.NO_STORE)


def document(view: Callable[..., dict[str, Any] | None]) -> View:
    """Serve a public JSON document, or 404 for None."""

    @csrf_exempt
    @wraps(view)
    def serve(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if refused := error_handler.reject_unsafe_method(request):
            return refused
        body = view(**kwargs)
        if body is None:
            return error_handler.error_response(NotFound("There is no such resource."), request)
        return JsonResponse(body, headers={"Cache-Control": f"public, max-age={METADATA_AGE_S}"})

    return serve


@document
def server_metadata() -> dict[str, Any]:
    """Describe the authorization server (RFC 8414)."""
    return {
        "issuer": issuer(),
        "authorization_endpoint": public_url(reverse("oauth-authorize")),
        "token_endpoint": public_url(reverse("oauth-token")),
        "revocation_endpoint": public_url(reverse("oauth-revoke")),
        "registration_endpoint": public_url(reverse("oauth-register")),
        "scopes_supported": list(dict.fromkeys(scope for scopes in SCOPES.values() for scope in scopes)),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(server.GRANT_TYPES),
        "token_endpoint_auth_methods_supported": server.AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": server.AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "protected_resources": [resource_uri(resource) for resource in Resource],
        "service_documentation": public_url("/docs/apps"),
    }


@document
def resource_metadata(resource_path: str = "") -> dict[str, Any] | None:
    """Describe the resource at a path (RFC 9728)."""
    found = BY_PATH.get(f"/{resource_path.strip('/')}" if resource_path else "")
    if found is None:
        return None
    suffix = f"/{resource_path.strip('/')}" if resource_path else ""
    return {
        "resource": public_url(suffix),
        "authorization_servers": [issuer()],
        "scopes_supported": list(SCOPES[found]),
        "bearer_methods_supported": ["header"],
        "resource_name": f"Tablewire {found.label}",
        "resource_documentation": public_url("/docs/mcp" if found == Resource.MCP else "/docs/apps"),
    }


urlpatterns = [
    path("oauth/token", issue_token, name="oauth-token"),
    path("oauth/revoke", revoke_token, name="oauth-revoke"),
    path("oauth/register", register, name="oauth-register"),
    path(".well-known/oauth-authorization-server", server_metadata),
    path(METADATA_PATH.lstrip("/"), resource_metadata),
    path(f"{METADATA_PATH.lstrip('/')}/<path:resource_path>", resource_metadata),
]
