"""What was booked on the guests' page, each form once."""

import django.db.models.deletion
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0006_guests_prove_who_they_are"),
    ]

    operations = [
        migrations.CreateModel(
            name="OnlineBooking",
            fields=[
                (
                    "form",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("content", models.CharField(help_text="Hash of what the form said", max_length=64)),
                ("contact", models.CharField(help_text="Hash of the guest's mail address or number", max_length=64)),
                (
                    "address",
                    models.CharField(help_text="Hash of the address that the form came from", max_length=64),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "reservation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="online_booking",
                        to="reservations.reservation",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["contact"], name="online_booking_of_contact"),
                    models.Index(fields=["address", "created_at"], name="online_booking_of_address"),
                ],
            },
        ),
    ]
