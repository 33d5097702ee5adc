"""The region of a market, whose holidays count; changes of neighborhoods, which restaurants follow."""

import uuid

from django.db import migrations, models

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0011_degrees_of_attributes"),
    ]

    operations = [
        migrations.CreateModel(
            name="NeighborhoodChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                (
                    "after",
                    models.UUIDField(
                        db_default=uuid.UUID("00000000-0000-0000-0000-000000000000"),
                        default=uuid.UUID("00000000-0000-0000-0000-000000000000"),
                        help_text="The last restaurant that is done",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="market",
            name="region",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Code of the region whose public holidays count, beside those of the country: BE for Berlin",
                max_length=20,
            ),
        ),
        run_sql_files("catalogue", "record_neighborhood_change"),
    ]
