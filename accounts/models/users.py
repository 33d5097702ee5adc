"""Users, accounts, memberships and invitations."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models import F, Func, Q
from django.utils.translation import gettext_lazy

from framework.db.row_history import track_history
from framework.public_ids import PublicId, new_id

if TYPE_CHECKING:
    from accounts.models.venues import Venue


class UserManager(BaseUserManager["User"]):
    """Creates users, identified by their email address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a user; without a password it cannot sign in."""
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Store a user with all permissions."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def with_address(self, email: str) -> "models.QuerySet[User]":
        """Users who sign in with this address or have confirmed it, in any case.

        An address that a user only added may be of somebody else.
        """
        confirmed = Q(emailaddress__email__iexact=email, emailaddress__verified=True)
        return self.filter(Q(email__iexact=email) | confirmed).distinct()


class User(AbstractUser):
    """A person who signs in, to the dashboard or the admin."""

    username = None  # type: ignore[assignment]  # the email address is the name
    email = models.EmailField("email address", unique=True)
    # Without a constraint: the venue may be deleted, or closed to the user, which get_access decides.
    last_venue = models.ForeignKey(
        "accounts.Venue",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        help_text="The venue whose page the user opened last; the dashboard opens it",
    )

    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="One of settings.DASHBOARD_LANGUAGES; empty for that of the browser",
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]  # the stubs expect a manager with usernames

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(Func(F("email"), function="lower"), name="user_email_unique_in_any_case")
        ]

    def remember_venue(self, venue: "Venue") -> None:
        """Store the venue as the last one, if it is another than before."""
        if self.last_venue_id != venue.pk:
            self.last_venue = venue
            User.objects.filter(pk=self.pk).update(last_venue=venue)

    def clean(self) -> None:
        super().clean()
        self.email = self.email.lower()


class Account(models.Model):
    """A customer; owns venues."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the owner closed the account; its data is deleted later"
    )
    members = models.ManyToManyField(User, through="Membership", related_name="accounts")

    def __str__(self) -> str:
        return self.name

    def is_confirmed(self) -> bool:
        """Whether an owner has confirmed an email address, or there is no owner: who signs up is one. One query."""
        owners = self.memberships.filter(role=Role.OWNER)
        confirmations = list(owners.values_list("user__emailaddress__verified", flat=True))
        return not confirmations or any(confirmations)


class Role(models.TextChoices):
    """The role of a member (accounts/tenancy/permissions.py lists the rights of each)."""

    OWNER = "owner", gettext_lazy("Owner")
    MANAGER = "manager", gettext_lazy("Manager")
    HOST = "host", gettext_lazy("Host")
    KITCHEN = "kitchen", gettext_lazy("Kitchen")


@track_history()
class Membership(models.Model):
    """A user's role in an account, at all of its venues or at the listed ones."""

    Role = Role

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)
    venues = models.ManyToManyField(
        "accounts.Venue",
        blank=True,
        related_name="memberships",
        help_text="The venues of a limited membership",
    )
    # A column of its own: without it, deleting the only listed venue would extend the membership to all venues.
    is_limited = models.BooleanField(
        "limited",
        default=False,
        db_default=False,
        help_text="Limited to the selected venues; otherwise all venues of the account, including later ones",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "user"], name="membership_unique_per_user_and_account")
        ]

    def __str__(self) -> str:
        return f"{self.user} of {self.account}"


class Invitation(models.Model):
    """An emailed link that makes its holder a member, once. Only the SHA-256 of its token is stored."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=20, choices=Role)
    venues = models.ManyToManyField("accounts.Venue", blank=True, related_name="+")
    is_limited = models.BooleanField("limited", default=False, db_default=False, help_text="Limited to these venues")
    invited_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    public_id = PublicId("inv")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "account",
                Func(F("email"), function="lower"),
                name="invitation_open_unique_per_address_and_account",
                condition=Q(accepted_at__isnull=True, withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(
                name="invitation_not_accepted_and_withdrawn",
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.account}"
