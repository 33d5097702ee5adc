"""Billing of accounts: their address on invoices, and the invoices of closed months."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Account


class Billing(models.Model):
    """The billing settings of an account; one without a row has the defaults."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="billing")
    address = models.TextField(
        blank=True, default="", db_default="", max_length=500, help_text="The lines below the name on invoices"
    )

    def __str__(self) -> str:
        return f"Billing of {self.account_id}"


class Invoice(models.Model):
    """The final invoice of a month: whose it is and for which wallets. Its lines are the ledger's."""

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
