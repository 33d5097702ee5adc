"""Kinds of places among the tags of searches; the exact stars of existing reviews are valid."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0003_suppliers_and_reasons"),
    ]

    operations = [
        ValidateConstraint(model_name="review", name="review_rating_rounds_to_stars"),
        run_sql_files("catalogue", "restaurant_search_row"),
    ]
