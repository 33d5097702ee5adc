"""Whose data a part of an export holds: its manifest names their licences."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0008_insights_and_exports")]
    operations = [
        migrations.AddField(
            model_name="exportpart",
            name="sources",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                default=list,
                help_text="Whose data is in it",
                size=None,
            ),
        ),
    ]
