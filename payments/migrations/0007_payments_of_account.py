"""Find the payments of an account."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("payments", "0006_payment_account")]

    operations = [
        AddIndexConcurrently(
            "payment",
            models.Index(
                fields=["account_id", "created_at"],
                condition=models.Q(account_id__isnull=False),
                name="payment_of_account",
            ),
        )
    ]
