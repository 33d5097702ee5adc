"""The existing seatings are valid."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("reservations", "0003_holds")]

    operations = [
        migrations.RunSQL("ALTER TABLE reservations_seating VALIDATE CONSTRAINT seating_hold"),
        ValidateConstraint(model_name="seating", name="seating_of_reservation_or_hold"),
    ]
