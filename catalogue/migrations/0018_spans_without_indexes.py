"""What is worked out anew each day is in no index, not even in the condition of one: else each update touches them all."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0017_read_model_of_removed")]
    operations = [
        migrations.RemoveIndex("searchrow", "search_without_spans"),
        migrations.AddField(
            "searchrow",
            "spans_missing",
            models.GeneratedField(
                expression=Q(spans_until__isnull=True), output_field=models.BooleanField(), db_persist=True
            ),
        ),
        migrations.AddIndex(
            "searchrow",
            models.Index(fields=["restaurant"], name="search_without_spans", condition=Q(spans_missing=True)),
        ),
    ]
