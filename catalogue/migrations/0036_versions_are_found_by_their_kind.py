"""Versions are found by their kind, the newest first."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("catalogue", "0035_insights_that_nobody_approved_are_found")]
    operations = [
        AddIndexConcurrently("version", models.Index(fields=["kind", "id"], name="version_by_kind")),
    ]
