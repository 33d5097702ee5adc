"""Degrees of attributes among the tags of searches."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0010_hotels"),
    ]

    operations = [
        run_sql_files("catalogue", "restaurant_search_row"),
    ]
