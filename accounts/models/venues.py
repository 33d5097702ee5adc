"""Venues: the restaurants of accounts, and how each works."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from accounts.models.people import Account
from config.api.ids import new_id
from config.api.zones import is_a_zone

# What a payment method may be called, in the APIs too.
PAYMENT_LABEL = r"^[a-z][a-z0-9_-]{0,39}$"
is_a_payment_label = RegexValidator(
    PAYMENT_LABEL, "A label has small letters, digits, _ and -, and begins with a letter: card."
)


class Venue(models.Model):
    """A restaurant of an account: what an API key stands for, and the owner of orders and reservations."""

    class WhenFull(models.TextChoices):
        REFUSE = "refuse", "Refuse, and name other times"
        WAITLIST = "waitlist", "Put on the waiting list"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="venues")
    name = models.CharField(max_length=200)
    timezone = models.CharField(
        max_length=64, default="UTC", validators=[is_a_zone], help_text="IANA name: the wall clock of this venue"
    )
    currency = models.CharField(max_length=3, default="EUR", help_text="ISO 4217")
    is_sandbox = models.BooleanField(
        "sandbox", default=False, help_text="For trying out: its keys begin with rk_test_"
    )
    max_days_ahead = models.PositiveSmallIntegerField(default=365, help_text="How far ahead a table can be reserved")
    auto_confirm_max_party = models.PositiveSmallIntegerField(
        default=8, help_text="Larger parties wait for the staff's word"
    )
    when_full = models.CharField(
        max_length=10,
        choices=WhenFull,
        default=WhenFull.REFUSE,
        help_text="What a guest is told when no table is free",
    )
    mails_guests = models.BooleanField(
        default=True, help_text="Confirmations, reminders and offers go to guests who left a mail address"
    )
    prices_include_tax = models.BooleanField(default=True, help_text="Whether the menu's prices are what guests pay")
    payment_methods = ArrayField(
        models.CharField(max_length=40, validators=[is_a_payment_label]),
        default=list,
        blank=True,
        help_text="Labels that orders may carry, separated by commas; empty: any",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="venue_currency_is_three_capitals",
                condition=Q(currency__regex="^[A-Z]{3}$"),
                violation_error_message="The currency is a code of ISO 4217: EUR.",
            ),
            models.CheckConstraint(
                name="venue_confirms_parties_of_0_to_500", condition=Q(auto_confirm_max_party__lte=500)
            ),
        ]

    def __str__(self) -> str:
        return self.name
