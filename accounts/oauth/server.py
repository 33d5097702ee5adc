"""The protocol: grants of OAuth 2.1 by Authlib, on our models. Nothing here knows pages or URLs.

The rules that Authlib leaves to us: codes and refresh tokens are claimed by one conditional UPDATE; a second use of a
code, or of a refresh token that was exchanged before, revokes its whole grant; a token is for one resource.
"""

import base64
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import unquote

from authlib.common.urls import add_params_to_uri
from authlib.oauth2 import AuthorizationServer as AuthlibServer
from authlib.oauth2 import OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749 import OAuth2Payload
from authlib.oauth2.rfc6749.errors import (
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    UnauthorizedClientError,
    UnsupportedGrantTypeError,
    UnsupportedResponseTypeError,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, ClientCredentialsGrant, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils import timezone

from accounts.models import Account, OAuthApp, OAuthCode, OAuthGrant, OAuthToken, User, Venue
from accounts.models.oauth import CODE_PREFIX, hash_secret, new_secret
from accounts.oauth import client_documents, registration
from accounts.oauth.access import list_venues
from accounts.oauth.resources import Resource, UnknownResource, UnknownScope, find_resource, find_scopes, issuer
from framework.api.rate_limits.client_ip import client_network
from framework.api.urls import public_url

AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
GRANT_TYPES = ("authorization_code", "refresh_token", "client_credentials")
# RFC 6749, appendix A: printable ASCII. It also keeps NUL from the database.
PRINTABLE = re.compile(r"[ -~]{0,2000}")
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
# Venues that a token response names.
MAX_VENUES = 200


class InvalidTargetError(OAuth2Error):  # type: ignore[misc]  # Authlib has no types
    """The resource is unknown, or not that of the grant (RFC 8707)."""

    error = "invalid_target"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the person has chosen on the consent page: an account, and one of its venues or all."""

    user: User
    account: Account
    venue: Venue | None


class Parameters(OAuth2Payload):  # type: ignore[misc]
    """The parameters of the query string or of the body, never of both."""

    def __init__(self, values: QueryDict) -> None:
        self.values = values

    @property
    def data(self) -> dict[str, str]:
        # Of a repeated one the last; `check_parameters` refuses them.
        return {name: values[-1] for name, values in self.values.lists() if values}

    @property
    def datalist(self) -> Mapping[str, list[str]]:
        return defaultdict(list, dict(self.values.lists()))


class OAuthRequest(OAuth2Request):  # type: ignore[misc]
    """A request to the authorization endpoint (parameters in the query) or the token endpoint (in the body)."""

    def __init__(self, request: HttpRequest, *, is_authorization: bool) -> None:
        # Authlib refuses plain http; behind a proxy that terminates TLS all requests are, and `up` has no TLS.
        super().__init__(
            request.method, f"https:{public_url(request.path).partition(':')[2]}", headers=request.headers
        )
        self.parameters = request.GET if is_authorization else request.POST
        self.payload = Parameters(self.parameters)
        self.address = client_network(request)
        self.now: datetime = timezone.now()
        self.choice: Choice | None = None
        self.resource = Resource.MANAGEMENT
        self.scopes: list[str] = []

    @property
    def args(self) -> QueryDict:
        return self.parameters

    @property
    def form(self) -> QueryDict:
        return self.parameters


def check_parameters(values: QueryDict) -> None:
    """Raise InvalidRequestError for a repeated parameter, and for characters that no parameter has."""
    for name, found in values.lists():
        if len(found) > 1 and name != "resource":
            raise InvalidRequestError("A parameter is repeated.")
        if not all(PRINTABLE.fullmatch(value) for value in found):
            raise InvalidRequestError("A parameter is too long, or has characters that are not printable ASCII.")


def check_basic_credentials(header: str) -> None:
    """Raise InvalidClientError for an Authorization header on which Authlib would fail."""
    scheme, text = [*header.split(None, 1), "", ""][:2]
    if not scheme or (scheme.lower() != "basic" and text):
        return
    try:
        decoded = unquote(base64.b64decode(text.strip(), validate=True).decode())
    except ValueError:
        decoded = ""
    if ":" not in decoded or not PRINTABLE.fullmatch(decoded):
        raise InvalidClientError("The Authorization header is malformed.", status_code=401)


def read_target(request: OAuthRequest, *, allowed: Sequence[str] | None = None) -> None:
    """Set the resource and the scopes that the request names. Raises InvalidTargetError, InvalidScopeError."""
    try:
        request.resource = find_resource(request.parameters.getlist("resource"))
    except UnknownResource as error:
        raise InvalidTargetError(error.message) from error
    try:
        request.scopes = find_scopes(request.parameters.get("scope", ""), request.resource, allowed=allowed)
    except UnknownScope as error:
        raise InvalidScopeError(error.message) from error


def check_same_target(request: OAuthRequest, grant: OAuthGrant) -> None:
    """Raise InvalidTargetError if the request names another resource than its grant has."""
    if request.parameters.getlist("resource"):
        try:
            resource = find_resource(request.parameters.getlist("resource"))
        except UnknownResource as error:
            raise InvalidTargetError(error.message) from error
        if resource != grant.resource:
            raise InvalidTargetError("This was granted for another resource.")


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    """Authorization code, with PKCE."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    @staticmethod
    def validate_authorization_redirect_uri(request: OAuthRequest, client: OAuthApp) -> str:
        """Return the redirect URI. The error does not lead there, nor repeats it."""
        uri = request.payload.redirect_uri or ""
        if not client.check_redirect_uri(uri):
            raise InvalidRequestError("The redirect URI is not one that the app has registered.")
        return cast("str", uri)

    def validate_requested_scope(self) -> None:
        read_target(self.request)

    def save_authorization_code(self, code: str, request: OAuthRequest) -> None:
        """Store the grant with its code."""
        choice, now = request.choice, request.now
        if choice is None:
            raise RuntimeError("nobody has chosen what to grant")
        with transaction.atomic():
            grant = OAuthGrant.objects.create(
                app=request.client,
                account=choice.account,
                user=choice.user,
                venue=choice.venue,
                resource=request.resource,
                scopes=request.scopes,
                created_at=now,
                expires_at=now + OAuthCode.LIFETIME,
            )
            OAuthCode.objects.create(
                digest=hash_secret(code),
                grant=grant,
                redirect_uri=request.payload.redirect_uri,
                code_challenge=request.payload.data["code_challenge"],
                expires_at=now + OAuthCode.LIFETIME,
            )

    def generate_authorization_code(self) -> str:
        return new_secret(CODE_PREFIX)

    def query_authorization_code(self, code: str, client: OAuthApp) -> OAuthCode | None:
        """Return the code if it is unused. A second use by its client revokes the grant (RFC 6749, section 10.5)."""
        rows = OAuthCode.objects.select_related("grant__app", "grant__user", "grant__account")
        found = rows.filter(digest=hash_secret(code), grant__app=client).first()
        if found is None:
            return None
        if found.used_at is not None:
            found.grant.revoke(now=self.request.now)
            return None
        is_live = self.request.now < found.expires_at and found.grant.revoked_at is None
        return found if is_live else None

    def authenticate_user(self, authorization_code: OAuthCode) -> User:
        """Claim the code, after everything else was checked; return the person."""
        check_same_target(self.request, authorization_code.grant)
        if not authorization_code.claim(now=self.request.now):
            authorization_code.grant.revoke(now=self.request.now)
            raise InvalidGrantError("The code was used before.")
        self.request.grant, self.request.scopes = authorization_code.grant, authorization_code.grant.scopes
        return cast("User", authorization_code.grant.user)

    def delete_authorization_code(self, authorization_code: OAuthCode) -> None:
        """Keep the code, so that its second use is recognised; a task deletes it."""


class RequiredCodeChallenge(CodeChallenge):  # type: ignore[misc]
    """PKCE by S256 for every app, with a secret or without (OAuth 2.1, section 7.5)."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]

    def validate_code_challenge(self, grant: CodeGrant, redirect_uri: str) -> None:
        data = grant.request.payload.data
        if not data.get("code_challenge") or data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("A code_challenge is required, with code_challenge_method=S256.")
        super().validate_code_challenge(grant, redirect_uri)


class RotatingGrant(RefreshTokenGrant):  # type: ignore[misc]
    """Refresh token, which is exchanged for a new one each time."""

    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> OAuthToken | None:
        """Return the token if it is unused. The reuse of an exchanged one revokes its grant."""
        token = OAuthToken.find(refresh_token, kind=OAuthToken.Kind.REFRESH)
        if token is None or not token.check_client(self.request.client):
            return None
        if token.used_at is not None:
            token.grant.revoke(now=self.request.now)
            return None
        return token if token.is_active(self.request.now) else None

    def authenticate_user(self, refresh_token: OAuthToken) -> User:
        """Claim the token, after everything else was checked; return the person.

        Of two concurrent refreshes one is refused, and the grant stays: both began before the exchange.
        """
        check_same_target(self.request, refresh_token.grant)
        if not list_venues(refresh_token.grant)[:1]:
            raise InvalidGrantError("The person or the account has no access any more.")
        scope = self.request.payload.scope
        scopes = [name for name in refresh_token.scopes if not scope or name in scope.split()]
        if not scopes:
            raise InvalidScopeError("The scope is blank.")
        if not refresh_token.claim(now=self.request.now):
            raise InvalidGrantError("The refresh token was just used.")
        self.request.grant = refresh_token.grant
        self.request.scopes = scopes
        return cast("User", refresh_token.grant.user)

    def revoke_old_credential(self, refresh_token: OAuthToken) -> None:
        """It was claimed."""


class OwnGrant(ClientCredentialsGrant):  # type: ignore[misc]
    """Client credentials: an app at the venues of the account that has registered it."""

    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def validate_requested_scope(self) -> None:
        request = self.request
        read_target(request, allowed=request.client.own_scopes)
        if request.resource != Resource.MANAGEMENT:
            raise InvalidTargetError("An app itself has access to the management API only.")
        if request.client.account.closed_at is not None:
            raise UnauthorizedClientError("The account is closed.")
        request.grant, _is_new = OAuthGrant.objects.update_or_create(
            app=request.client,
            user=None,
            resource=request.resource,
            defaults={"scopes": request.client.own_scopes},
            create_defaults={
                "account": request.client.account,
                "scopes": request.client.own_scopes,
                "created_at": request.now,
                "expires_at": request.now,
            },
        )
        if request.grant.revoked_at is not None:
            raise UnauthorizedClientError("The access of the app was revoked.")


class Revocation(RevocationEndpoint):  # type: ignore[misc]
    """Revocation (RFC 7009): of a refresh token with its grant, of an access token alone."""

    CLIENT_AUTH_METHODS = AUTH_METHODS

    def check_params(self, request: OAuthRequest, client: OAuthApp) -> None:
        """Require a token; its hint may be anything, as we do not need it."""
        if not request.form.get("token"):
            raise InvalidRequestError("Send the token.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> OAuthToken | None:
        return OAuthToken.find(token_string)

    def revoke_token(self, token: OAuthToken, request: OAuthRequest) -> None:
        if token.kind == OAuthToken.Kind.REFRESH:
            token.grant.revoke(now=request.now)
        else:
            OAuthToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=request.now)


class AuthorizationServer(AuthlibServer):  # type: ignore[misc]
    """Authlib's server on Django and our models."""

    def create_oauth2_request(self, request: HttpRequest | OAuthRequest) -> OAuthRequest:
        return request if isinstance(request, OAuthRequest) else OAuthRequest(request, is_authorization=False)

    def query_client(self, client_id: str) -> OAuthApp | None:
        """Return the enabled app with this client id. The documents of URLs were read before (find_client)."""
        return find_stored_client(client_id)

    def generate_token(self, **_: Any) -> dict[str, Any]:
        """`save_token` makes the tokens."""
        return {}

    def save_token(self, token: dict[str, Any], request: OAuthRequest) -> None:
        """Store new tokens of the grant, and add them to the response."""
        grant, now = request.grant, request.now
        lifetime = OAuthToken.LIFETIMES[OAuthToken.Kind.ACCESS]
        with transaction.atomic():
            token["access_token"] = OAuthToken.issue(grant, OAuthToken.Kind.ACCESS, scopes=request.scopes, now=now)
            if grant.user_id is not None:
                token["refresh_token"] = OAuthToken.issue(grant, OAuthToken.Kind.REFRESH, scopes=grant.scopes, now=now)
        token |= {
            "token_type": "Bearer",
            "expires_in": int(lifetime.total_seconds()),
            "scope": " ".join(request.scopes),
        }
        if grant.resource == Resource.MANAGEMENT:
            venues = list_venues(grant).by_name()[:MAX_VENUES]
            token["venues"] = [
                {"id": venue.public_id, "name": venue.name, "sandbox": venue.is_sandbox} for venue in venues
            ]

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """We have no receivers."""

    def handle_response(self, status: int, body: Any, headers: Sequence[tuple[str, str]]) -> HttpResponse:
        if status == 302:
            # Not Django's redirect, which refuses the schemes of apps.
            location = add_params_to_uri(dict(headers)["Location"], [("iss", issuer())])
            return HttpResponse(status=302, headers={"Location": location, "Cache-Control": "no-store"})
        # An error of Authlib is a list of pairs. JsonResponse sets the type.
        kept = {name: value for name, value in headers if name != "Content-Type"}
        return JsonResponse(dict(body), status=status, headers=kept | NO_STORE)


def find_stored_client(client_id: str) -> OAuthApp | None:
    pk = registration.find_app_id(client_id)
    rows = OAuthApp.objects.select_related("account").filter(disabled_at=None)
    return rows.filter(pk=pk).first() if pk else rows.filter(document_url=client_id).first()


def load_client(request: OAuthRequest) -> None:
    """Read the document of the client id, if it is a URL of one, before the transaction begins."""
    client_id = request.parameters.get("client_id", "")
    if client_documents.is_document_url(client_id):
        client_documents.find_app(client_id, now=request.now, address=request.address)


def build_server() -> AuthorizationServer:
    server = AuthorizationServer()
    server.register_grant(CodeGrant, [RequiredCodeChallenge(required=True)])
    server.register_grant(RotatingGrant)
    server.register_grant(OwnGrant)
    server.register_endpoint(Revocation)
    return server


SERVER = build_server()


def validate_authorization(request: HttpRequest) -> CodeGrant:
    """Return the validated authorization request: its `request` has client, resource and scopes.

    Raises OAuth2Error, with `redirect_uri` if the app may be told of it there. May read a client document.
    """
    asked = OAuthRequest(request, is_authorization=True)
    check_parameters(asked.parameters)
    load_client(asked)
    try:
        if asked.payload.response_type != "code":
            # Authlib's own error repeats the value, and fails with characters that errors must not have.
            client = SERVER.query_client(asked.payload.client_id or "")
            uri = asked.payload.redirect_uri or ""
            raise UnsupportedResponseTypeError(
                "code",
                "The response type must be code.",
                redirect_uri=uri if client and client.check_redirect_uri(uri) else None,
            )
        grant = CodeGrant(asked, SERVER)
        RequiredCodeChallenge(required=True)(grant)
        grant.validate_consent_request()
    except OAuth2Error as error:
        error.state = asked.payload.state
        raise
    return grant


def answer_authorization(grant: CodeGrant, choice: Choice | None) -> HttpResponse:
    """Redirect to the app: with a code for the choice, or with `access_denied` for None."""
    grant.request.choice = choice
    response = SERVER.create_authorization_response(grant.request, grant_user=choice and choice.user, grant=grant)
    return cast("HttpResponse", response)


def redirect_error(error: OAuth2Error) -> HttpResponse:
    """Redirect to the app with the error. Only for errors with a `redirect_uri`."""
    return SERVER.handle_response(*error())


def answer_token_request(request: HttpRequest) -> HttpResponse:
    """Answer a request to the token endpoint. One transaction, after a client document was read."""
    return _answer(request, SERVER.create_token_response)


def answer_revocation(request: HttpRequest) -> HttpResponse:
    return _answer(request, lambda asked: SERVER.create_endpoint_response("revocation", asked))


def _answer(request: HttpRequest, answer: Any) -> HttpResponse:
    asked = OAuthRequest(request, is_authorization=False)
    try:
        check_parameters(asked.parameters)
        check_basic_credentials(request.META.get("HTTP_AUTHORIZATION", ""))
        if answer == SERVER.create_token_response and asked.payload.grant_type not in GRANT_TYPES:
            raise UnsupportedGrantTypeError("")
    except OAuth2Error as error:
        return SERVER.handle_response(*error())
    # A client document is read for a signed-in person alone: codes and tokens exist only for apps that are stored.
    with transaction.atomic():
        return cast("HttpResponse", answer(asked))
