"""Find the open requests for refunds, and check the constraints of the former migration."""

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("payments", "0008_refund_requests")]

    operations = [
        ValidateConstraint("payment", "a_refund_request_has_a_moment_and_a_reason"),
        ValidateConstraint("payment", "only_a_refund_request_is_declined"),
        AddIndexConcurrently(
            "payment",
            models.Index(
                fields=["refund_requested_at"],
                condition=models.Q(
                    state="delivered", refund_requested_at__isnull=False, refund_declined_at__isnull=True
                ),
                name="payment_refund_requested",
            ),
        ),
    ]
