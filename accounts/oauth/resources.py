"""What tokens are good for (RFC 8707), with the scopes of each, and the addresses of the authorization server."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from accounts.models import Scope
from accounts.models.api_keys import SCOPES_ON_REQUEST
from accounts.models.oauth import DATA_SCOPE, Resource
from framework.api.urls import public_url
from framework.errors import InvalidRequest

SCOPES: Mapping[Resource, Sequence[str]] = {
    Resource.MANAGEMENT: tuple(Scope.values),
    Resource.DATA: (DATA_SCOPE,),
    Resource.MCP: (DATA_SCOPE,),
}
# The paths by which a client may name each; the first is the one that tokens are described by.
PATHS: Mapping[Resource, Sequence[str]] = {
    Resource.MANAGEMENT: ("/api", "", "/api/v1", "/api/v2"),
    Resource.DATA: ("/v1",),
    # The second requires a token: for clients that sign in only when they get 401.
    Resource.MCP: ("/mcp", "/mcp/account"),
}
BY_PATH = {path: resource for resource, paths in PATHS.items() for path in paths}
METADATA_PATH = "/.well-known/oauth-protected-resource"


class UnknownResource(InvalidRequest):
    """The URI is not one of ours."""


class UnknownScope(InvalidRequest):
    """The resource has no such scope."""


def issuer() -> str:
    """Return the issuer identifier of the authorization server."""
    return public_url("")


def find_resource(uris: Iterable[str]) -> Resource:
    """Return the resource that the `resource` parameters name; without any the management API.

    Raises UnknownResource, also for more than one resource: a token is good for one.
    """
    found = {_parse_resource(uri) for uri in uris}
    if len(found) > 1:
        raise UnknownResource("A token is for one resource: ask for each by a request of its own.")
    return found.pop() if found else Resource.MANAGEMENT


def _parse_resource(uri: str) -> Resource:
    base = public_url("")
    rest = uri.removeprefix(base)
    # Without the check of the next character `https://api.example.com.evil` would begin as ours.
    if uri.startswith(base) and (not rest or rest[0] == "/"):
        resource = BY_PATH.get(rest.rstrip("/"))
        if resource is not None:
            return resource
    names = ", ".join(resource_uri(resource) for resource in Resource)
    raise UnknownResource(f"There is no such resource here. The resources are {names}.")


def resource_uri(resource: Resource) -> str:
    return public_url(PATHS[resource][0])


def find_scopes(text: str, resource: Resource, *, allowed: Iterable[str] | None = None) -> list[str]:
    """Return the scopes of a space-separated list, in our order; without any those that a new key has.

    With `allowed` these are all there are, and the default. Raises UnknownScope.
    """
    limit = set(SCOPES[resource] if allowed is None else allowed)
    known = [scope for scope in SCOPES[resource] if scope in limit]
    asked = set(text.split())
    if asked - set(known) or not known:
        raise UnknownScope(f"The scopes are {' '.join(known) or 'none'}.")
    if asked:
        return [scope for scope in known if scope in asked]
    return [scope for scope in known if allowed is not None or scope not in SCOPES_ON_REQUEST]


def metadata_url(path: str) -> str:
    """Return the address of the metadata (RFC 9728) of the resource at a path."""
    return public_url(METADATA_PATH + path)


def bearer_challenge(path: str, *, error: str = "invalid_token") -> str:
    """Return a WWW-Authenticate header that leads a client to the authorization server (RFC 9728, section 5.1)."""
    reason = f'error="{error}", ' if error else ""
    return f'Bearer realm="tablewire", {reason}resource_metadata="{metadata_url(path)}"'


def host_of(uri: str) -> str:
    """Return the host of a URI with its port, as people know it; the scheme if there is no host."""
    parts = urlsplit(uri)
    return parts.netloc or f"{parts.scheme}:"
