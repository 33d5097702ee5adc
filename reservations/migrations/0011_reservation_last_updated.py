"""The index of the reservations that have changed since a moment."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reservations", "0010_language")]

    operations = [
        AddIndexConcurrently(
            "reservation", models.Index(fields=["venue", "updated_at"], name="reservation_last_updated")
        )
    ]
