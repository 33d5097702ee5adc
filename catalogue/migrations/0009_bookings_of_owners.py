"""The bookings of an owner are found by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("catalogue", "0008_bookings_without_offer")]

    operations = [
        AddIndexConcurrently(
            model_name="flowbooking",
            index=models.Index(
                condition=models.Q(("owner", ""), _negated=True), fields=["owner", "id"], name="flow_booking_of_owner"
            ),
        ),
    ]
