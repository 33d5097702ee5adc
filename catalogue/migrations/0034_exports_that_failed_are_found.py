"""Exports that failed are found by an index, for staff who look whether there are any."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0033_exports_know_when_they_are_begun_anew")]
    operations = [
        migrations.AddIndex(
            model_name="export",
            index=models.Index(fields=["created_at"], condition=models.Q(status="failed"), name="export_failed"),
        ),
    ]
