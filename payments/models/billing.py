"""Billing of accounts: their address on invoices, and the invoices of closed months."""

from datetime import date

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Account


def default_alert_percents() -> list[int]:
    return [50, 80, 100]


class Billing(models.Model):
    """The billing settings of an account; one without a row has the defaults."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="billing")
    address = models.TextField(
        blank=True, default="", db_default="", max_length=500, help_text="The lines below the name on invoices"
    )

    monthly_limit_usdc = models.DecimalField(
        "monthly limit in USDC",
        max_digits=14,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="What the linked wallets may pay in a month, in UTC; empty: no limit",
    )
    alert_percents = ArrayField(
        models.PositiveSmallIntegerField(),
        default=default_alert_percents,
        db_default=[50, 80, 100],
        blank=True,
        help_text="The shares of the limit at which the owners get an email",
    )
    alerted_month = models.DateField(null=True, blank=True, help_text="The first day of the month of the last email")
    alerted_percent = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="The highest reported then")
    refusal_alerted_month = models.DateField(
        null=True, blank=True, help_text="The first day of the month of the last email about a refused payment"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="spending_limit_is_positive",
                condition=models.Q(monthly_limit_usdc=None) | models.Q(monthly_limit_usdc__gt=0),
            )
        ]

    def __str__(self) -> str:
        return f"Billing of {self.account_id}"

    def is_alerted(self, percent: int, month: date) -> bool:
        """Whether a mail about this share of the limit, or a higher one, was sent in this month."""
        return self.alerted_month == month and self.alerted_percent >= percent


class Invoice(models.Model):
    """The final invoice of a month: whose it is, and the wallets whose payments for no account it has.

    Its lines are the ledger's.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invoices")
    month = models.DateField(help_text="The first day of the month, in UTC")
    name = models.CharField(max_length=200)
    address = models.TextField(blank=True)
    wallets = ArrayField(models.CharField(max_length=42), help_text="The linked wallets when it became final")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "month"], name="one_invoice_of_an_account_a_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"
