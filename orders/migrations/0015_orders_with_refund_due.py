"""Find the orders whose refund is due."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0014_validate_payments")]

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(
                fields=["updated_at"], name="order_refund_due", condition=models.Q(payment_state="refund_due")
            ),
        )
    ]
