"""The bookings of a number are found by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("catalogue", "0015_phone_contacts")]

    operations = [
        AddIndexConcurrently(
            model_name="flowbooking",
            index=models.Index(
                condition=models.Q(("phone_contact", ""), _negated=True),
                fields=["phone_contact", "created_at"],
                name="flow_booking_of_phone",
            ),
        ),
    ]
