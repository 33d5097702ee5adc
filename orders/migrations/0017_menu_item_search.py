"""Search dishes by trigrams of their name and id."""

import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently, UnaccentExtension
from django.db import migrations, models

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0016_ticket_claims")]

    operations = [
        UnaccentExtension(),
        run_sql_files("orders", "fold"),
        AddIndexConcurrently(
            "menuitem",
            django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    models.Func(
                        django.db.models.functions.text.Concat(
                            "name", models.Value("\n"), "ref", output_field=models.TextField()
                        ),
                        function="fold",
                        output_field=models.TextField(),
                    ),
                    "gin_trgm_ops",
                ),
                name="menu_item_by_trigrams",
            ),
        ),
    ]
