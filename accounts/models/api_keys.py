"""API keys: Bearer credentials of venues."""

import hashlib
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import Func, Q, Subquery, Value
from django.db.models.functions import Coalesce, Least

from accounts.models.venues import Venue
from framework.db.row_history import track_history
from framework.errors import InvalidRequest
from framework.public_ids import decode, encode, new_id

PREFIX = "key"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRET_LENGTH = 40
CHECKSUM_LENGTH = 6
# For how long a key that was replaced may still be used: what people are offered.
OVERLAPS = (timedelta(0), timedelta(hours=1), timedelta(hours=24), timedelta(days=7))
MINUTE = timedelta(minutes=1)
# In a statement: its commit waits for no synchronous standby. One that is away would hold up whoever only reads.
UNHURRIED = Func(
    *(Value("synchronous_commit"), Value("off"), Value(True)), function="set_config", output_field=models.TextField()
)
LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


class CannotRotate(InvalidRequest):
    """The key has ended, or another has replaced it."""


class CannotProlong(InvalidRequest):
    """The key was revoked, or another has replaced it: it ends no later than it does."""


def checksum(text: str) -> str:
    """CRC-32 of the text in six base62 letters: tells a mistyped key from an unknown one without a look-up."""
    number = zlib.crc32(text.encode())
    letters = ""
    for _ in range(CHECKSUM_LENGTH):
        number, place = divmod(number, len(BASE62))
        letters = BASE62[place] + letters
    return letters


def digest(key: str) -> bytes:
    """What is kept of a key.

    A fast hash is right here: the key is 238 random bits, not a password (PBKDF2 would cost 344 ms a call).
    """
    return hashlib.sha256(key.encode()).digest()


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A fresh key: the only moment at which its text is known."""

    row: "ApiKey"
    text: str


class Scope(models.TextChoices):
    """What a key may do."""

    ORDERS_READ = "orders:read"
    ORDERS_WRITE = "orders:write"
    RESERVATIONS_READ = "reservations:read"
    RESERVATIONS_WRITE = "reservations:write"


def every_scope() -> list[str]:
    """All scopes: what a key has that was issued without naming any."""
    return list(Scope.values)


class ApiKeys(models.QuerySet["ApiKey"]):
    """Questions to the API keys."""

    def of_text(self, text: str) -> Self:
        """Keep the key that was issued as this text, and its venue in the same query."""
        return self.filter(digest=digest(text)).select_related("venue")

    def stamped(self) -> Self:
        """Add `changes` to each key: the number of KeyChange in the snapshot in which the key is read."""
        number = Coalesce(Subquery(KeyChange.objects.values("number")[:1]), Value(0))
        return self.annotate(changes=number)

    def named(self, words: str) -> Self:
        """Keep what people call by these words: the id, the text as it is displayed, or the whole text.

        May be several keys: the letters that are displayed are few.
        """
        if looks_like_a_key(words):
            return self.filter(digest=digest(words))
        key = decode(PREFIX, words)
        if key is not None:
            return self.filter(pk=key)
        start, _, end = words.partition("…")
        return self.filter(start=start, end=end) if end else self.filter(start=start)

    def usable(self, now: datetime) -> Self:
        """Keep the keys that are neither revoked nor expired."""
        return self.filter(Q(revoked_at=None) | Q(revoked_at__gt=now), Q(expires_at=None) | Q(expires_at__gt=now))

    def revoke(self, *, now: datetime) -> int:
        """Make these keys worthless from now on; return how many were not revoked before."""
        return self.filter(revoked_at=None).update(revoked_at=now)


@track_history(exclude=("digest", "last_used_at", "last_used_ip"))
class ApiKey(models.Model):
    """A Bearer credential of one venue. Only its SHA-256 is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="api_keys")
    family = models.UUIDField(default=new_id, editable=False, help_text="Shared by a key and its replacements")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    start = models.CharField(max_length=12, editable=False, help_text="First characters, to recognise the key")
    end = models.CharField(max_length=4, editable=False, help_text="Last characters")
    scopes = ArrayField(
        models.CharField(max_length=20, choices=Scope),
        default=every_scope,
        help_text="Permissions: read or write orders and reservations",
    )
    allowance = models.PositiveIntegerField(default=1000, help_text="Requests an hour")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="To the minute")
    last_used_ip = models.GenericIPAddressField(null=True, blank=True, editable=False)

    objects = ApiKeys.as_manager()

    class Meta:
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(name="api_key_allowance_positive", condition=Q(allowance__gte=1)),
            models.CheckConstraint(
                name="api_key_scopes_are_known",
                condition=Q(
                    scopes__contained_by=["orders:read", "orders:write", "reservations:read", "reservations:write"]
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.shown})"

    @property
    def public_id(self) -> str:
        """The id by which people name the key; it lets nobody in."""
        return encode(PREFIX, self.pk)

    @property
    def shown(self) -> str:
        """The letters of the text by which people tell keys apart."""
        return f"{self.start}…{self.end}"

    @classmethod
    def issue(
        cls,
        venue: Venue,
        *,
        name: str,
        allowance: int = 1000,
        scopes: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        family: UUID | None = None,
    ) -> IssuedKey:
        """Store a new key of the venue and return it with its text, which cannot be had again.

        Without `scopes` it may do everything; without `family` it begins one.
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
            scopes=every_scope() if scopes is None else list(scopes),
            allowance=allowance,
            expires_at=expires_at,
        )
        return IssuedKey(row=row, text=text)

    def rotate(self, *, overlap: timedelta, now: datetime) -> IssuedKey:
        """Issue the key that replaces this one, which ends after the overlap or when it was to end anyhow.

        The new key may do the same, on the same count, and lives as long as this one was made to. A key is replaced
        once: the UPDATE holds the row, so of two rotations at once the second finds the key of the first.
        Raises CannotRotate for a key that has ended or was replaced.
        """
        until = now + overlap
        with transaction.atomic():
            row = ApiKey.objects.filter(pk=self.pk)
            before = row.values_list("expires_at", flat=True).get()
            if not row.usable(now).update(expires_at=Least("expires_at", Value(until))):
                raise CannotRotate(f"The key {self.shown} has ended; issue a new one.")
            old = row.select_related("venue").get()
            newer = old.successor()
            if newer is not None:
                raise CannotRotate(f"The key {self.shown} was replaced before, by {newer.shown}; rotate that one.")
            return ApiKey.issue(
                old.venue,
                name=old.name,
                allowance=old.allowance,
                scopes=old.scopes,
                expires_at=now + min(before - old.created_at, LAST_DAY - now) if before else None,
                family=old.family,
            )

    def successor(self) -> "ApiKey | None":
        """The key that has replaced this one."""
        return ApiKey.objects.filter(family=self.family, pk__gt=self.pk).order_by("pk").first()

    def must_not_end_later(self, moment: datetime | None) -> None:
        """Raise CannotProlong where the key was revoked or replaced and would end later than it does; None is never.

        Call inside the transaction that stores the new end: the row is held until then. It is held before the
        successor is looked for, so that a rotation which is going on is waited for, and seen.
        """
        row = ApiKey.objects.select_for_update().get(pk=self.pk)
        ends_later = row.expires_at is not None and (moment is None or moment > row.expires_at)
        if ends_later and (row.revoked_at is not None or row.successor() is not None):
            raise CannotProlong(f"The key {row.shown} was revoked or replaced: it can end sooner, but no later.")

    def revoke(self, *, now: datetime) -> bool:
        """Make the key worthless from now on; false when it was revoked before."""
        return bool(ApiKey.objects.filter(pk=self.pk).revoke(now=now))

    def state(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None and self.revoked_at <= now:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def used(self, *, now: datetime, address: str | None) -> bool:
        """Write down that the key was used just now, from this IP address; false when that is known of this minute.

        Call it outside of any transaction, which would not wait for a standby either.
        """
        due = Q(last_used_at=None) | Q(last_used_at__lte=now - MINUTE)
        rows = ApiKey.objects.alias(unhurried=UNHURRIED).filter(due, pk=self.pk, unhurried="off")
        return bool(rows.update(last_used_at=now, last_used_ip=address))


def looks_like_a_key(text: str) -> bool:
    """Whether the text has the form and the checksum of a key of ours."""
    return (
        len(text) == len("rk_live_") + SECRET_LENGTH + CHECKSUM_LENGTH
        and text.isascii()
        and text.startswith(("rk_live_", "rk_test_"))
        and checksum(text[:-CHECKSUM_LENGTH]) == text[-CHECKSUM_LENGTH:]
    )


class KeyChange(models.Model):
    """One row whose number rises with each change of a key or a venue (accounts/sql/count_api_key_change.sql).

    Processes remember keys for a while (accounts.api_keys.cache) and look here, twice a second at most, whether
    what they remember may still be believed.
    """

    number = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(name="key_changes_are_one_row", condition=Q(id=1))]

    def __str__(self) -> str:
        return str(self.number)
