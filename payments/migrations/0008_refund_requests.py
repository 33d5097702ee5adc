"""The payer asks for the money of a delivered answer back, and staff may decline."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0007_payments_of_account")]

    operations = [
        migrations.AddField(
            "payment",
            "refund_requested_at",
            models.DateTimeField(
                blank=True, help_text="When the payer asked for the money of a delivered answer back", null=True
            ),
        ),
        migrations.AddField(
            "payment",
            "refund_request",
            models.CharField(
                blank=True, db_default="", default="", help_text="The payer's reason, in their words", max_length=500
            ),
        ),
        migrations.AddField(
            "payment",
            "refund_declined_at",
            models.DateTimeField(blank=True, help_text="When staff declined to give the money back", null=True),
        ),
        AddConstraintNotValid(
            "payment",
            models.CheckConstraint(
                name="a_refund_request_has_a_moment_and_a_reason",
                condition=models.Q(refund_requested_at__isnull=True, refund_request="")
                | (models.Q(refund_requested_at__isnull=False) & ~models.Q(refund_request="")),
            ),
        ),
        AddConstraintNotValid(
            "payment",
            models.CheckConstraint(
                name="only_a_refund_request_is_declined",
                condition=models.Q(refund_declined_at__isnull=True) | models.Q(refund_requested_at__isnull=False),
            ),
        ),
    ]
