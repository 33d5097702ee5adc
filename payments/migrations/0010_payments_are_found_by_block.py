"""Payments are found by the block in which they arrived, as the daily audit goes through the chain."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0009_older_prices_were_set_when_they_began")]

    operations = [
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(fields=["block"], name="payment_by_block"),
        ),
    ]
