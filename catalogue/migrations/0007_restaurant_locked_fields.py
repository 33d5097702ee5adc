"""The fields that staff decided."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0006_restaurants_are_checked")]
    operations = [
        migrations.AddField(
            model_name="restaurant",
            name="locked_fields",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                db_default=[],
                default=list,
                help_text="What staff decided: imports leave it alone",
                size=None,
            ),
        ),
    ]
