"""Apps, what members have granted to them, and the codes and tokens of a grant (OAuth 2.1; accounts.oauth)."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models.api_keys import ASYNCHRONOUS_COMMIT, MINUTE
from accounts.models.users import Account, User
from accounts.models.venues import Venue
from accounts.oauth.redirect_uris import is_registered
from framework.public_ids import PublicId, new_id

APP_PREFIX, GRANT_PREFIX = "app", "grt"
# Access tokens, refresh tokens, codes and client secrets begin with these, so that a scanner for secrets knows them.
ACCESS_PREFIX, REFRESH_PREFIX, CODE_PREFIX, SECRET_PREFIX = "oat_", "ort_", "oac_", "ocs_"  # no secrets
# What `new_secret` returns.
SECRET = re.compile(r"o[a-z]{2}_[A-Za-z0-9_-]{43}")
# The scope of the data API and of MCP. The others are those of API keys (accounts.models.Scope).
DATA_SCOPE = "data"
SCOPES = (
    *("orders:read", "orders:write", "menu:write", "reservations:read", "reservations:write"),
    *("webhooks:read", "webhooks:write", DATA_SCOPE),
)


def new_secret(prefix: str) -> str:
    """Return a new token, code or client secret: 256 random bits."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(text: str) -> bytes:
    """Return the SHA-256 that is stored; a fast hash is right for 256 random bits."""
    return hashlib.sha256(text.encode()).digest()


class OAuthApp(models.Model):
    """A client of the authorization server.

    An account has registered it, or it has registered itself (RFC 7591), or it is a document at a URL (a client id
    metadata document). Only the first kind may have a secret.
    """

    class Kind(models.TextChoices):
        REGISTERED = "registered", "registered by an account"
        DYNAMIC = "dynamic", "registered by itself"
        DOCUMENT = "document", "document at a URL"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=10, choices=Kind)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, null=True, blank=True, related_name="oauth_apps", help_text="Its owner"
    )
    document_url = models.CharField(max_length=500, null=True, blank=True, unique=True, help_text="The client id")
    document_read_at = models.DateTimeField(null=True, blank=True, editable=False)
    name = models.CharField(max_length=100, help_text="As the app calls itself")
    redirect_uris = ArrayField(models.CharField(max_length=500), default=list, blank=True)
    secret_digest = models.BinaryField(max_length=32, null=True, editable=False)
    secret_end = models.CharField(max_length=4, blank=True, default="", editable=False)
    own_scopes = ArrayField(
        models.CharField(max_length=20),
        default=list,
        blank=True,
        help_text="Of tokens without a person (client credentials), for the venues of the owner's account",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="By its owner or our staff")

    public_id = PublicId(APP_PREFIX)

    class Meta:
        verbose_name = "app"
        constraints = [
            models.CheckConstraint(
                name="oauth_app_registered_by_account",
                condition=Q(kind="registered", account__isnull=False) | ~Q(kind="registered") & Q(account=None),
            ),
            models.CheckConstraint(
                name="oauth_app_document_has_url",
                condition=Q(kind="document", document_url__isnull=False) | ~Q(kind="document") & Q(document_url=None),
            ),
            models.CheckConstraint(
                name="oauth_app_only_registered_has_secret",
                condition=Q(kind="registered") | Q(secret_digest=None, own_scopes=[]),
            ),
            models.CheckConstraint(name="oauth_app_scopes_known", condition=Q(own_scopes__contained_by=[*SCOPES])),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def client_id(self) -> str:
        return self.document_url or self.public_id

    def set_secret(self) -> str:
        """Give the app a new secret, which replaces the former one at once; return it. Save the app afterwards."""
        text = new_secret(SECRET_PREFIX)
        self.secret_digest, self.secret_end = hash_secret(text), text[-4:]
        return text

    # What Authlib asks a client (authlib.oauth2.rfc6749.ClientMixin).

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        """Return nothing: a request names its redirect URI."""

    def get_allowed_scope(self, scope: str | None) -> str:
        """Return the scope as asked: the grants check it, because it depends on the resource."""
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return is_registered(redirect_uri, self.redirect_uris)

    def check_client_secret(self, client_secret: str) -> bool:
        stored = bytes(self.secret_digest or b"")
        return hmac.compare_digest(stored, hash_secret(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Whether the app may authenticate so: with its secret if it has one."""
        return (method == "none") == (self.secret_digest is None)

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        if grant_type == "client_credentials":
            return self.secret_digest is not None and bool(self.own_scopes)
        return bool(self.redirect_uris)


class Resource(models.TextChoices):
    """What a token is good for. A token of one resource is refused by the others."""

    MANAGEMENT = "management", "Management API"
    DATA = "data", "Data API"
    MCP = "mcp", "MCP"


class OAuthGrants(models.QuerySet["OAuthGrant"]):
    """Queries for grants."""

    def active(self, now: datetime) -> Self:
        """Filter to grants with tokens or a code that still work, if members and venues are as they were."""
        return self.filter(revoked_at=None, expires_at__gt=now, app__disabled_at=None)

    def revoke(self, *, now: datetime) -> int:
        """Revoke the grants with all their codes and tokens; return how many were not revoked before."""
        return self.filter(revoked_at=None).update(revoked_at=now)


class OAuthGrant(models.Model):
    """What a member has granted to an app, or what an app does for its own account (`user` is None).

    All codes and tokens that come of it are one family: they end with it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(OAuthApp, on_delete=models.CASCADE, related_name="grants")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="oauth_grants")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, blank=True, related_name="oauth_grants")
    venue = models.ForeignKey(
        Venue,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="oauth_grants",
        help_text="Empty: all venues of the account that the member manages",
    )
    resource = models.CharField(max_length=10, choices=Resource)
    scopes = ArrayField(models.CharField(max_length=20))
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="When the last of its codes and tokens expires")
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute")

    objects = OAuthGrants.as_manager()

    public_id = PublicId(GRANT_PREFIX)

    class Meta:
        verbose_name = "grant"
        constraints = [
            models.CheckConstraint(
                name="oauth_grant_scopes_known",
                condition=Q(scopes__contained_by=[*SCOPES]) & ~Q(scopes=[]),
            ),
            models.CheckConstraint(
                name="oauth_grant_data_has_no_venue", condition=Q(resource="management") | Q(venue=None)
            ),
            models.UniqueConstraint(
                fields=["app", "resource"], name="oauth_grant_one_of_app_itself", condition=Q(user=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.app} at {self.account}"

    def is_active(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.expires_at and self.app.disabled_at is None

    def revoke(self, *, now: datetime) -> bool:
        """Revoke the grant; return whether it was not revoked before."""
        return bool(OAuthGrant.objects.filter(pk=self.pk).revoke(now=now))

    def record_use(self, *, now: datetime) -> None:
        """Store the time of the last use, at most once a minute. Call it outside of a transaction."""
        if self.last_used_at is None or now - self.last_used_at >= MINUTE:
            due = Q(last_used_at=None) | Q(last_used_at__lte=now - MINUTE)
            rows = OAuthGrant.objects.alias(synchronous=ASYNCHRONOUS_COMMIT).filter(due, pk=self.pk, synchronous="off")
            rows.update(last_used_at=now)


class OAuthCode(models.Model):
    """An authorization code, as its SHA-256. A used one is kept, so that its second use is recognised."""

    LIFETIME: ClassVar[timedelta] = timedelta(seconds=60)

    digest = models.BinaryField(max_length=32, primary_key=True, editable=False)
    grant = models.ForeignKey(OAuthGrant, on_delete=models.CASCADE, related_name="codes")
    redirect_uri = models.CharField(max_length=500)
    code_challenge = models.CharField(max_length=128)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    # Authlib reads it; S256 is the only method.
    code_challenge_method = "S256"

    class Meta:
        verbose_name = "authorization code"

    def __str__(self) -> str:
        return f"code of {self.grant_id}"

    def claim(self, *, now: datetime) -> bool:
        """Use the code; False if another request has used it. Of concurrent calls one gets True."""
        return bool(OAuthCode.objects.filter(pk=self.pk, used_at=None).update(used_at=now))

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return " ".join(self.grant.scopes)


class OAuthToken(models.Model):
    """An access or a refresh token, as its SHA-256. A used refresh token is kept, so that its reuse is recognised."""

    class Kind(models.TextChoices):
        ACCESS = "access", "access token"
        REFRESH = "refresh", "refresh token"

    LIFETIMES: ClassVar[dict[str, timedelta]] = {Kind.ACCESS: timedelta(hours=1), Kind.REFRESH: timedelta(days=90)}
    PREFIXES: ClassVar[dict[str, str]] = {Kind.ACCESS: ACCESS_PREFIX, Kind.REFRESH: REFRESH_PREFIX}

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=10, choices=Kind)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    grant = models.ForeignKey(OAuthGrant, on_delete=models.CASCADE, related_name="tokens")
    scopes = ArrayField(models.CharField(max_length=20), help_text="At most those of the grant")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True, help_text="When a refresh token was exchanged")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "token"
        constraints = [
            models.CheckConstraint(
                name="oauth_token_only_refresh_is_used", condition=Q(kind="refresh") | Q(used_at=None)
            )
        ]
        indexes = [models.Index(fields=["expires_at"], name="oauth_token_by_expiry")]

    def __str__(self) -> str:
        return f"{self.kind} token of {self.grant_id}"

    @classmethod
    def issue(cls, grant: OAuthGrant, kind: str, *, scopes: Sequence[str], now: datetime) -> str:
        """Store a new token of the grant; return its text, which is not stored."""
        text = new_secret(cls.PREFIXES[kind])
        expires_at = now + cls.LIFETIMES[kind]
        cls.objects.create(
            kind=kind,
            digest=hash_secret(text),
            grant=grant,
            scopes=list(scopes),
            created_at=now,
            expires_at=expires_at,
        )
        OAuthGrant.objects.filter(pk=grant.pk, expires_at__lt=expires_at).update(expires_at=expires_at)
        return text

    @classmethod
    def find(cls, text: str, *, kind: str | None = None) -> "OAuthToken | None":
        """Return the token with its grant, app, account and user, whatever its state. One query, none if it cannot
        be a token.
        """
        if not SECRET.fullmatch(text):
            return None
        rows = cls.objects.select_related("grant__app__account", "grant__account", "grant__user")
        found = rows.filter(digest=hash_secret(text)).first()
        return found if found is None or kind is None or found.kind == kind else None

    def is_active(self, now: datetime) -> bool:
        return (
            self.used_at is None
            and self.revoked_at is None
            and now < self.expires_at
            and self.grant.revoked_at is None
            and self.grant.app.disabled_at is None
        )

    def claim(self, *, now: datetime) -> bool:
        """Use the refresh token; False if another request has used it. Of concurrent calls one gets True."""
        return bool(OAuthToken.objects.filter(pk=self.pk, used_at=None, revoked_at=None).update(used_at=now))

    def check_client(self, client: OAuthApp) -> bool:
        return self.grant.app_id == client.pk

    def get_scope(self) -> str:
        return " ".join(self.scopes)
