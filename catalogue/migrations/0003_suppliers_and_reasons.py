"""Ranks of sources, exact stars of reviews, reasons of import runs; limited attributes do not count in searches."""

import django.db.models.functions.math
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0002_functions_and_triggers"),
    ]

    operations = [
        migrations.AddField(
            model_name="importrun",
            name="incomplete",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="Rows that were imported without their invalid values"
            ),
        ),
        migrations.AddField(
            model_name="importrun",
            name="reasons",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="By outcome how many rows have each reason; unread keys",
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="rating",
            field=models.DecimalField(
                blank=True,
                decimal_places=1,
                help_text="The exact stars if they are not a whole number: 3.5, with stars rounded to 4",
                max_digits=2,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="source",
            name="rank",
            field=models.PositiveSmallIntegerField(
                db_default=100,
                default=100,
                help_text="The values of a source with a lower rank override those of a higher one",
            ),
        ),
        AddConstraintNotValid(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("rating__isnull", True),
                    models.Q(
                        ("rating__range", (1, 5)), ("stars", django.db.models.functions.math.Round(models.F("rating")))
                    ),
                    _connector="OR",
                ),
                name="review_rating_rounds_to_stars",
            ),
        ),
        run_sql_files("catalogue", "restaurant_search_row"),
    ]
