"""Search dishes by trigrams of their name and id."""

import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0017_fold")]

    operations = [
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
