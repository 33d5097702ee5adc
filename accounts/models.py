"""Who calls, and what is theirs: people, accounts, venues and API keys."""

import hashlib
import secrets
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import F, Func, Q

from config.api.ids import new_id
from config.api.zones import is_a_zone


class People(BaseUserManager["User"]):
    """Makes users, who are known by their mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a user; without a password nobody can sign in as them."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a user who may do everything in the admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractUser):
    """A person who signs in, to the dashboard or the admin."""

    username = None  # type: ignore[assignment]  # the mail address is the name
    email = models.EmailField("e-mail address", unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[People] = People()  # type: ignore[assignment]  # the stubs expect a manager with usernames

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(Func(F("email"), function="lower"), name="one_user_per_email_in_any_case")
        ]


class Account(models.Model):
    """A customer of ours: owns venues."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(User, through="Membership", related_name="accounts")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's part in an account."""

    class Role(models.TextChoices):
        OWNER = "owner"
        MANAGER = "manager"
        HOST = "host"
        KITCHEN = "kitchen"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "user"], name="one_membership_per_user_and_account")]

    def __str__(self) -> str:
        return f"{self.user} of {self.account}"


class Venue(models.Model):
    """A restaurant of an account: what an API key stands for, and the owner of orders and reservations."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="venues")
    name = models.CharField(max_length=200)
    timezone = models.CharField(
        max_length=64, default="UTC", validators=[is_a_zone], help_text="IANA name: the wall clock of this venue"
    )
    currency = models.CharField(max_length=3, default="EUR", help_text="ISO 4217")
    is_sandbox = models.BooleanField(default=False, help_text="For trying out: its keys begin with rk_test_")
    max_days_ahead = models.PositiveSmallIntegerField(default=365, help_text="How far ahead a table can be reserved")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="venue_currency_is_three_capitals",
                condition=Q(currency__regex="^[A-Z]{3}$"),
                violation_error_message="The currency is a code of ISO 4217: EUR.",
            )
        ]

    def __str__(self) -> str:
        return self.name


BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SECRET_LENGTH = 40
CHECKSUM_LENGTH = 6


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


class ApiKeys(models.QuerySet["ApiKey"]):
    """Questions to the API keys."""

    def of_text(self, text: str) -> Self:
        """Keep the key that was issued as this text, and its venue in the same query."""
        return self.filter(digest=digest(text)).select_related("venue")


class ApiKey(models.Model):
    """A Bearer credential of one venue. Only its SHA-256 is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="api_keys")
    family = models.UUIDField(default=new_id, editable=False, help_text="Shared by a key and those that replace it")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    start = models.CharField(max_length=12, editable=False, help_text="The first letters, to tell keys apart")
    end = models.CharField(max_length=4, editable=False, help_text="The last letters")
    allowance = models.PositiveIntegerField(default=1000, help_text="Requests an hour")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeys.as_manager()

    class Meta:
        verbose_name = "API key"
        constraints = [models.CheckConstraint(name="api_key_allowance_positive", condition=Q(allowance__gte=1))]

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…{self.end})"

    @classmethod
    def issue(cls, venue: Venue, *, name: str, allowance: int = 1000, expires_at: datetime | None = None) -> IssuedKey:
        """Store a new key of the venue and return it with its text, which cannot be had again."""
        secret = ("rk_test_" if venue.is_sandbox else "rk_live_") + "".join(
            secrets.choice(BASE62) for _ in range(SECRET_LENGTH)
        )
        text = secret + checksum(secret)
        row = cls.objects.create(
            venue=venue,
            name=name,
            digest=digest(text),
            start=text[:12],
            end=text[-4:],
            allowance=allowance,
            expires_at=expires_at,
        )
        return IssuedKey(row=row, text=text)

    def revoke(self, *, now: datetime) -> bool:
        """Make the key worthless from now on; false when it was revoked before."""
        return bool(ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now))


def looks_like_a_key(text: str) -> bool:
    """Whether the text has the form and the checksum of a key of ours."""
    return (
        len(text) == len("rk_live_") + SECRET_LENGTH + CHECKSUM_LENGTH
        and text.isascii()
        and text.startswith(("rk_live_", "rk_test_"))
        and checksum(text[:-CHECKSUM_LENGTH]) == text[-CHECKSUM_LENGTH:]
    )
