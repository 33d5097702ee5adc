"""Venues: the restaurants of accounts, with their settings."""

from datetime import datetime, timedelta
from typing import ClassVar, Self
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone as django_timezone
from django.utils.translation import gettext_lazy

from accounts.models.users import Account, Membership, User
from framework.db.row_history import track_history
from framework.languages import list_languages
from framework.public_ids import PublicId, new_id
from framework.timezones import validate_zone

# The format of payment method labels, in the APIs too.
PAYMENT_LABEL = r"^[a-z][a-z0-9_-]{0,39}$"
PREFIX = "ven"
validate_payment_label = RegexValidator(
    PAYMENT_LABEL,
    gettext_lazy("A label consists of lower-case letters, digits, _ and -, and starts with a letter: card."),
)


class Venues(models.QuerySet["Venue"]):
    """Queries for venues."""

    def for_member(self, user: User) -> Self:
        """Filter to the venues of open accounts where the user is a member."""
        memberships = Membership.objects.filter(
            Q(is_limited=False) | Q(venues=OuterRef("pk")), account=OuterRef("account"), user=user
        )
        return self.filter(Exists(memberships), account__closed_at=None)

    def by_name(self) -> Self:
        """Order by name, sandboxes last."""
        return self.order_by("is_sandbox", "name", "id")


@track_history()
class Venue(models.Model):
    """A restaurant of an account. API keys, orders and reservations belong to a venue."""

    class WhenFull(models.TextChoices):
        REFUSE = "refuse", gettext_lazy("Decline, and offer other times")
        WAITLIST = "waitlist", gettext_lazy("Add to the waiting list")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="venues")
    name = models.CharField(max_length=200)
    timezone = models.CharField(
        max_length=64, default="UTC", validators=[validate_zone], help_text="IANA time zone of the venue"
    )
    currency = models.CharField(max_length=3, default="EUR", help_text="ISO 4217")
    is_sandbox = models.BooleanField(
        "sandbox", default=False, help_text="For testing: its API keys begin with rk_test_"
    )
    max_days_ahead = models.PositiveSmallIntegerField(
        default=365, help_text=gettext_lazy("How many days ahead guests can book")
    )
    auto_confirm_max_party = models.PositiveSmallIntegerField(
        default=8, help_text=gettext_lazy("Larger parties need approval by staff")
    )
    when_full = models.CharField(
        max_length=10,
        choices=WhenFull,
        default=WhenFull.REFUSE,
        help_text=gettext_lazy("What happens when no table is free"),
    )
    mails_guests = models.BooleanField(
        default=True,
        help_text=gettext_lazy("Send confirmations, reminders and offers to guests who gave an email address"),
    )
    prices_include_tax = models.BooleanField(default=True, help_text="Whether menu prices include tax")
    payment_methods = ArrayField(
        models.CharField(max_length=40, validators=[validate_payment_label]),
        default=list,
        blank=True,
        help_text="Allowed payment labels of orders, separated by commas; empty: any",
    )
    language = models.CharField(
        max_length=10,
        choices=list_languages,
        default=settings.LANGUAGE_CODE,
        db_default=settings.LANGUAGE_CODE,
        help_text=gettext_lazy("Used when the language of a guest is unknown"),
    )
    address = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text=gettext_lazy("Shown to guests")
    )
    phone = models.CharField(
        max_length=40, blank=True, default="", db_default="", help_text=gettext_lazy("Shown to guests")
    )
    is_bookable_online = models.BooleanField(
        "bookable online",
        default=False,
        db_default=False,
        help_text=gettext_lazy("Guests can book on the booking page"),
    )
    proves_guests = models.BooleanField(
        default=False,
        db_default=False,
        help_text=gettext_lazy(
            "Bookings on that page are held for 15 minutes, until the guest opens the link in an email"
        ),
    )
    forgets_guests_after_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Days after their last reservation until guest data is deleted; empty: never",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Venues.as_manager()

    public_id = PublicId(PREFIX)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="venue_currency_is_three_capitals",
                condition=Q(currency__regex="^[A-Z]{3}$"),
                violation_error_message=gettext_lazy("The currency is an ISO 4217 code, such as EUR."),
            ),
            models.CheckConstraint(
                name="venue_confirms_parties_of_0_to_500", condition=Q(auto_confirm_max_party__lte=500)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def now(self) -> datetime:
        """Return the present of this venue: the real time, or what the clock of a sandbox shows.

        Whatever concerns orders, reservations and events of one venue reads the time here. One query for a sandbox,
        none for others.
        """
        return django_timezone.now() + self.clock_offset()

    def clock_offset(self) -> timedelta:
        """Return how far this venue's clock is ahead of the real time. One query for a sandbox, none for others."""
        if not self.is_sandbox:
            return timedelta()
        offsets = SandboxClock.objects.filter(venue=self.pk).values_list("offset", flat=True)
        return offsets.first() or timedelta()


class SandboxClock(models.Model):
    """The clock of a sandbox that was advanced (accounts.sandbox_clock). It goes on from there, and never back.

    In a table of its own: a row of it changes with each step of an advance, and each change of a venue is recorded and
    read again by all processes (accounts.api_keys.cache).
    """

    MAX_OFFSET: ClassVar[timedelta] = timedelta(days=3660)

    venue = models.OneToOneField(Venue, on_delete=models.CASCADE, primary_key=True, related_name="sandbox_clock")
    offset = models.DurationField(default=timedelta, help_text="How far it is ahead of the real time")
    ran_until = models.DateTimeField(help_text="By this clock: what was due until then is done")
    leased_until = models.DateTimeField(
        null=True, blank=True, help_text="Real time: until then one process does what is due"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="sandbox_clock_is_0_to_3660_days_ahead",
                condition=Q(offset__gte=timedelta(), offset__lte=timedelta(days=3660)),
            ),
        ]

    def __str__(self) -> str:
        return f"Clock of {self.venue}"


def on_clock_of(venue: UUID | None, *, path: str = "venue") -> Q:
    """Return the condition on rows of this venue; without one, of all venues that have no clock of their own.

    Work that is done for all venues at once leaves out those with a clock: it is done by that clock
    (accounts.sandbox_clock).
    """
    if venue is None:
        return ~Q(**{f"{path}__in": SandboxClock.objects.values("venue")})
    return Q(**{path: venue})
