"""A refund says whose money was sent back."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0017_what_was_not_delivered_or_seen_is_found")]

    operations = [
        migrations.AddField(
            model_name="refund",
            name="senders",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=42),
                blank=True,
                default=list,
                help_text="Whose USDC it was that the payer received, as the chain shows",
                size=None,
            ),
        ),
    ]
