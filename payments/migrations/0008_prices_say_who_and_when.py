"""A price names who has set it and when, and one without an amount ends the sale at its rate."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0007_events_are_written_by_triggers")]

    operations = [
        migrations.AddField(
            model_name="price",
            name="by",
            field=models.CharField(default="system", help_text="Who has set it", max_length=80, verbose_name="set by"),
        ),
        migrations.AddField(
            model_name="price",
            name="created_at",
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name="set at"),
        ),
        migrations.AlterField(
            model_name="price",
            name="amount_usdc",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="Empty: not sold",
                max_digits=20,
                null=True,
                verbose_name="amount in USDC",
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="valid_from",
            field=models.DateTimeField(verbose_name="valid from (UTC)"),
        ),
    ]
