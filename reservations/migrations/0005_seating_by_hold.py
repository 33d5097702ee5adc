"""The seatings of a hold are found by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reservations", "0004_validate_seatings")]

    operations = [
        AddIndexConcurrently(
            model_name="seating",
            index=models.Index(condition=models.Q(("hold__isnull", False)), fields=["hold"], name="seating_by_hold"),
        ),
    ]
