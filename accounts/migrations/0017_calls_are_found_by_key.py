"""The log of one key, and the calls that we broke, without reading the others."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("accounts", "0016_rows_keep_their_history")]

    operations = [
        migrations.AddIndex(
            model_name="apicall",
            index=models.Index(fields=["key", "-created_at", "-id"], name="api_call_newest_of_key"),
        ),
        migrations.AddIndex(
            model_name="apicall",
            index=models.Index(
                condition=Q(status__gte=500),
                fields=["venue", "-created_at", "-id"],
                name="api_call_broken_of_venue",
            ),
        ),
    ]
