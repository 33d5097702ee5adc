"""API keys: Bearer credentials of venues."""

import hashlib
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Func, Q, Subquery, Value
from django.db.models.functions import Coalesce, Least

from accounts.models.venues import Venue
from framework.db.row_history import track_history
from framework.errors import InvalidRequest
from framework.public_ids import PublicId, decode, new_id

if TYPE_CHECKING:
    from accounts.models.oauth import OAuthGrant

PREFIX = "key"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRET_LENGTH = 40
CHECKSUM_LENGTH = 6
# How long a rotated key keeps working: the choices in the interfaces.
OVERLAPS = (timedelta(0), timedelta(hours=1), timedelta(hours=24), timedelta(days=7))
MINUTE = timedelta(minutes=1)
# Makes the commit of a statement wait for no synchronous standby: an absent one would delay calls that only read.
ASYNCHRONOUS_COMMIT = Func(
    *(Value("synchronous_commit"), Value("off"), Value(True)), function="set_config", output_field=models.TextField()
)
LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


class CannotRotate(InvalidRequest):
    """The key is inactive, or was already rotated."""


class CannotExtendExpiry(InvalidRequest):
    """The key was revoked or rotated, so its expiry cannot be extended."""


def checksum(text: str) -> str:
    """Return the CRC-32 as six base62 characters: it tells a mistyped key from an unknown one without a query."""
    number = zlib.crc32(text.encode())
    characters = ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(BASE62))
        characters = BASE62[digit] + characters
    return characters


def digest(key: str) -> bytes:
    """Return the SHA-256 that is stored.

    A fast hash is right here: the key is 238 random bits, not a password (PBKDF2 would cost 344 ms a call).
    """
    return hashlib.sha256(key.encode()).digest()


@dataclass(frozen=True, slots=True)
class CreatedApiKey:
    """A new key with its text, which is not stored."""

    row: "ApiKey"
    text: str


class Scope(models.TextChoices):
    """Permissions of a key."""

    ORDERS_READ = "orders:read"
    ORDERS_WRITE = "orders:write"
    MENU_WRITE = "menu:write"
    RESERVATIONS_READ = "reservations:read"
    RESERVATIONS_WRITE = "reservations:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"


# An endpoint outlives the key that created it, so a leaked key must not create one unless somebody wanted that.
SCOPES_ON_REQUEST = (Scope.WEBHOOKS_READ, Scope.WEBHOOKS_WRITE)


def all_scopes() -> list[str]:
    """Return all scopes, in their order."""
    return list(Scope.values)


def default_scopes() -> list[str]:
    """Return the scopes of a new key unless it is created with others: all except SCOPES_ON_REQUEST."""
    return [scope for scope in Scope.values if scope not in SCOPES_ON_REQUEST]


class ApiKeys(models.QuerySet["ApiKey"]):
    """Queries for API keys."""

    def issued(self) -> Self:
        """Filter to the keys that somebody holds: without those of apps, which have no text."""
        return self.filter(app=None)

    def with_text(self, text: str) -> Self:
        """Filter to the key with this text, and select its venue."""
        return self.filter(digest=digest(text)).select_related("venue")

    def with_change_number(self) -> Self:
        """Annotate `changes`: the number of ApiKeyChangeCounter in the snapshot of the query."""
        number = Coalesce(Subquery(ApiKeyChangeCounter.objects.values("number")[:1]), Value(0))
        return self.annotate(changes=number)

    def matching(self, text: str) -> Self:
        """Filter by public id, masked text or whole text. Several keys may have the same masked text."""
        if is_api_key(text):
            return self.filter(digest=digest(text))
        key = decode(PREFIX, text)
        if key is not None:
            return self.filter(pk=key)
        start, _, end = text.partition("…")
        return self.filter(start=start, end=end) if end else self.filter(start=start)

    def active(self, now: datetime) -> Self:
        """Filter to the keys that are neither revoked nor expired."""
        return self.filter(Q(revoked_at=None) | Q(revoked_at__gt=now), Q(expires_at=None) | Q(expires_at__gt=now))

    def revoke(self, *, now: datetime) -> int:
        """Revoke the keys; return how many were not revoked before."""
        return self.filter(revoked_at=None).update(revoked_at=now)


@track_history(exclude=("digest", "last_used_at", "last_used_ip"))
class ApiKey(models.Model):
    """A Bearer credential of one venue. Only its SHA-256 is stored.

    A key with an `app` is no credential: nobody has its text. It stands for the app at the venue where calls are
    counted, logged and replayed (accounts.oauth.access).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="api_keys")
    app = models.ForeignKey(
        "accounts.OAuthApp", on_delete=models.CASCADE, null=True, blank=True, editable=False, related_name="keys"
    )
    family = models.UUIDField(default=new_id, editable=False, help_text="Shared by a key and its replacements")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    start = models.CharField(max_length=12, editable=False, help_text="First characters, to recognise the key")
    end = models.CharField(max_length=4, editable=False, help_text="Last characters")
    scopes = ArrayField(
        models.CharField(max_length=20, choices=Scope),
        default=default_scopes,
        help_text="Permissions: read or write orders, reservations and webhook endpoints, write menus",
    )
    allowance = models.PositiveIntegerField(default=1000, help_text="Requests an hour")
    has_data_access = models.BooleanField(
        "data service",
        default=True,
        db_default=True,
        help_text="May use the data API, which is of the account as a whole: its tier, wallets, payments and exports",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="To the minute")
    last_used_ip = models.GenericIPAddressField(null=True, blank=True, editable=False)

    objects = ApiKeys.as_manager()

    public_id = PublicId(PREFIX)
    # Not stored: what the access token of this request stands on, if the key stands for an app.
    grant: "OAuthGrant | None" = None

    class Meta:
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(name="api_key_allowance_positive", condition=Q(allowance__gte=1)),
            models.UniqueConstraint(fields=["app", "venue"], name="api_key_one_per_app_and_venue"),
            models.CheckConstraint(
                name="api_key_scopes_known",
                condition=Q(
                    scopes__contained_by=[
                        *("orders:read", "orders:write", "menu:write", "reservations:read", "reservations:write"),
                        *("webhooks:read", "webhooks:write"),
                    ]
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.masked})"

    @property
    def has_all_scopes(self) -> bool:
        return set(self.scopes) == set(all_scopes())

    @property
    def has_default_scopes(self) -> bool:
        return set(self.scopes) == set(default_scopes())

    @property
    def masked(self) -> str:
        """The first and last characters of the key."""
        return f"{self.start}…{self.end}"

    @classmethod
    def create(
        cls,
        venue: Venue,
        *,
        name: str,
        allowance: int = 1000,
        scopes: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        family: UUID | None = None,
        has_data_access: bool = True,
    ) -> CreatedApiKey:
        """Store a new key of the venue; return it with its text.

        Without `scopes` it has the default ones; without `family` it starts a new family. Give `has_data_access` to a
        key of somebody who may use the data service of the account.
        """
        secret = ("rk_test_" if venue.is_sandbox else "rk_live_") + "".join(
            secrets.choice(BASE62) for _ in range(SECRET_LENGTH)
        )
        text = secret + checksum(secret)
        row = cls.objects.create(
            venue=venue,
            family=family or new_id(),
            name=name,
            digest=digest(text),
            start=text[:12],
            end=text[-4:],
            scopes=default_scopes() if scopes is None else list(scopes),
            allowance=allowance,
            expires_at=expires_at,
            has_data_access=has_data_access,
        )
        return CreatedApiKey(row=row, text=text)

    def rotate(self, *, overlap: timedelta, now: datetime, has_data_access: bool = True) -> CreatedApiKey:
        """Create the replacement of this key, which expires after the overlap or at its own expiry if that is sooner.

        The new key has the same scopes, rate limit counter and lifetime. It has access to the data API if the old one
        has it, and who rotates may use the data service (`has_data_access`). A key is rotated once: the UPDATE locks
        the row, so the second of two concurrent rotations sees the key of the first. Raises CannotRotate.
        """
        until = now + overlap
        with transaction.atomic():
            row = ApiKey.objects.filter(pk=self.pk)
            before = row.values_list("expires_at", flat=True).get()
            if not row.active(now).update(expires_at=Least("expires_at", Value(until))):
                raise CannotRotate(f"The key {self.masked} has expired or was revoked; create a new one.")
            old = row.select_related("venue").get()
            if newer := old.successor():
                raise CannotRotate(f"The key {self.masked} was already replaced by {newer.masked}; rotate that one.")
            return ApiKey.create(
                old.venue,
                name=old.name,
                allowance=old.allowance,
                scopes=old.scopes,
                expires_at=now + min(before - old.created_at, LAST_DAY - now) if before else None,
                family=old.family,
                has_data_access=old.has_data_access and has_data_access,
            )

    def successor(self) -> "ApiKey | None":
        """Return the key that replaced this one, or None."""
        return ApiKey.objects.filter(family=self.family, pk__gt=self.pk).order_by("pk").first()

    def check_expiry_not_extended(self, expires_at: datetime | None) -> None:
        """Raise CannotExtendExpiry if a revoked or rotated key would get a later expiry; None is never.

        Call it in the transaction that stores the expiry. It locks the row before it reads the successor, so that it
        waits for a concurrent rotation.
        """
        row = ApiKey.objects.select_for_update().get(pk=self.pk)
        is_extended = row.expires_at is not None and (expires_at is None or expires_at > row.expires_at)
        if is_extended and (row.revoked_at is not None or row.successor() is not None):
            raise CannotExtendExpiry(f"The key {row.masked} was revoked or rotated: its expiry cannot be extended.")

    def revoke(self, *, now: datetime) -> bool:
        """Revoke the key; return whether it was not revoked before."""
        return bool(ApiKey.objects.filter(pk=self.pk).revoke(now=now))

    def state(self, now: datetime) -> str:
        """Return `active`, `expired` or `revoked`."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def record_use(self, *, now: datetime, address: str | None) -> bool:
        """Store the time and IP address of the last use, at most once a minute; return whether it was stored.

        Call it outside of a transaction, because the whole transaction would commit asynchronously.
        """
        due = Q(last_used_at=None) | Q(last_used_at__lte=now - MINUTE)
        rows = ApiKey.objects.alias(synchronous=ASYNCHRONOUS_COMMIT).filter(due, pk=self.pk, synchronous="off")
        return bool(rows.update(last_used_at=now, last_used_ip=address))


def is_api_key(text: str) -> bool:
    """Whether the text has the format and the checksum of an API key."""
    return (
        len(text) == len("rk_live_") + SECRET_LENGTH + CHECKSUM_LENGTH
        and text.isascii()
        and text.startswith(("rk_live_", "rk_test_"))
        and checksum(text[:-CHECKSUM_LENGTH]) == text[-CHECKSUM_LENGTH:]
    )


class ApiKeyChangeCounter(models.Model):
    """One row whose number a trigger increments on each change of a key or a venue (count_api_key_change.sql).

    Processes that cache keys read it at most twice a second to invalidate their cache (accounts.api_keys.cache).
    """

    number = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(name="api_key_change_counter_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return str(self.number)
