"""The boards that have printed the ticket of an order."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0015_orders_with_refund_due")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="ticket_claims",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                db_default=[],
                default=list,
                help_text="Stations whose board has printed its ticket; empty text: the whole board",
                size=None,
            ),
        )
    ]
