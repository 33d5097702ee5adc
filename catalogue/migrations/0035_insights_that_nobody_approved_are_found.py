"""Insights that nobody has approved are found by an index, by who wrote them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0034_exports_that_failed_are_found")]
    operations = [
        migrations.AddIndex(
            model_name="insight",
            index=models.Index(
                fields=["provider"],
                condition=models.Q(approved_at=None) & ~models.Q(text=""),
                name="insight_not_approved",
            ),
        ),
    ]
