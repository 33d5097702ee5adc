"""Cancellation terms and deposits: what a venue asks, and what was agreed for a reservation."""

from datetime import timedelta
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.models import Venue
from framework.db.row_history import track_history
from framework.public_ids import new_id
from reservations.models.reservations import Reservation

MAX_FREE_HOURS = 168
MAX_DEPOSIT_USDC = Decimal(1000)


def every_weekday() -> list[int]:
    return list(range(7))


@track_history()
class CancellationTerms(models.Model):
    """Until when some parties on some days cancel free of charge, and the deposit that each guest of them pays."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="cancellation_terms")
    party_from = models.PositiveSmallIntegerField(default=1, help_text="Number of guests, smallest party")
    weekdays = ArrayField(models.PositiveSmallIntegerField(), default=every_weekday, help_text="0 is Monday")
    first_date = models.DateField(null=True, blank=True, help_text="In the venue's time zone; empty: no limit")
    last_date = models.DateField(null=True, blank=True, help_text="Included; empty: no limit")
    free_hours = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Guests cancel free of charge until so many hours before, 0 to 168; empty: always",
    )
    deposit_usdc = models.DecimalField(
        "deposit in USDC",
        max_digits=6,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal("0.01")), MaxValueValidator(MAX_DEPOSIT_USDC)],
        help_text="For each guest, 0.01 to 1000; empty: no deposit",
    )

    class Meta:
        verbose_name_plural = "cancellation terms"
        constraints = [
            models.CheckConstraint(
                name="terms_have_weekdays",
                condition=Q(weekdays__contained_by=[0, 1, 2, 3, 4, 5, 6], weekdays__len__gte=1),
                violation_error_message=gettext_lazy("Weekdays are numbers from 0 (Monday) to 6 (Sunday)."),
            ),
            models.CheckConstraint(
                name="terms_party_from_1_to_500",
                condition=Q(party_from__range=(1, 500)),
                violation_error_message=gettext_lazy("The smallest party is of 1 to 500 guests."),
            ),
            models.CheckConstraint(
                name="terms_last_date_not_before_first",
                condition=Q(first_date=None) | Q(last_date=None) | Q(last_date__gte=F("first_date")),
                violation_error_message=gettext_lazy("The last day is before the first."),
            ),
            models.CheckConstraint(
                name="terms_free_hours_up_to_168",
                condition=Q(free_hours=None) | Q(free_hours__lte=MAX_FREE_HOURS),
                violation_error_message=gettext_lazy("Guests may have to cancel at most 168 hours (a week) before."),
            ),
            models.CheckConstraint(
                name="terms_deposit_up_to_1000",
                condition=Q(deposit_usdc=None) | Q(deposit_usdc__gt=0, deposit_usdc__lte=MAX_DEPOSIT_USDC),
                violation_error_message=gettext_lazy("A deposit is of 0.01 to 1000 USDC for each guest."),
            ),
            models.CheckConstraint(
                name="terms_ask_something",
                condition=Q(free_hours__isnull=False) | Q(deposit_usdc__isnull=False),
                violation_error_message=gettext_lazy("Enter the hours of free cancellation, a deposit, or both."),
            ),
        ]

    def __str__(self) -> str:
        all_parties, parties = _("All parties"), _("Parties from %(count)s guests") % {"count": self.party_from}
        parties = all_parties if self.party_from == 1 else parties
        asked = []
        if self.free_hours is not None:
            asked.append(_("free cancellation until %(hours)s hours before") % {"hours": self.free_hours})
        if self.deposit_usdc is not None:
            deposit = {"amount": f"{self.deposit_usdc.normalize():f}"}
            asked.append(_("deposit of %(amount)s USDC for each guest") % deposit)
        return f"{parties}: {', '.join(asked)}"


class AgreedTerms(models.Model):
    """The terms that a reservation was made on. Later changes of the venue's terms do not change them.

    Without a `deposit_state` the deposit was asked for and not paid here.
    """

    class DepositState(models.TextChoices):
        HELD = "held", pgettext_lazy("deposit", "held")
        KEPT = "kept", gettext_lazy("kept for the restaurant")
        RETURNED = "returned", gettext_lazy("returned to the guest")

    reservation = models.OneToOneField(
        Reservation, on_delete=models.CASCADE, primary_key=True, related_name="agreed_terms"
    )
    free_hours = models.PositiveSmallIntegerField(null=True)
    free_until = models.DateTimeField(help_text="Until then the guest cancels free of charge")
    # As many digits as a payment of any size needs.
    deposit_usdc = models.DecimalField(max_digits=78, decimal_places=6, null=True)
    deposit_state = models.CharField(max_length=10, choices=DepositState, blank=True, default="")
    decided_at = models.DateTimeField(null=True, help_text="When the deposit was returned or kept")

    class Meta:
        verbose_name_plural = "agreed terms"
        constraints = [
            models.CheckConstraint(
                name="agreed_deposit_state_if_paid", condition=Q(deposit_state="") | Q(deposit_usdc__isnull=False)
            ),
            models.CheckConstraint(
                name="agreed_decided_at_if_decided",
                condition=Q(deposit_state__in=["kept", "returned"], decided_at__isnull=False)
                | Q(deposit_state__in=["", "held"], decided_at__isnull=True),
            ),
        ]
        indexes = [
            models.Index(fields=["reservation"], name="agreed_deposit_held", condition=Q(deposit_state="held")),
        ]

    def __str__(self) -> str:
        return f"terms of {self.reservation_id}"

    @property
    def free_for(self) -> timedelta:
        return timedelta(hours=self.free_hours or 0)
