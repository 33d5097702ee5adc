"""Slots that staff withdrew stay withdrawn, and booked ones are found by their time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0012_rendering"),
    ]

    operations = [
        migrations.AddField(
            model_name="flowslot",
            name="is_barred",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Withdrawn by staff: no rule brings it back"
            ),
        ),
        migrations.AddIndex(
            model_name="flowslot",
            index=models.Index(
                condition=models.Q(("seats_left__lt", models.F("seats"))), fields=["starts_at"], name="slot_booked"
            ),
        ),
    ]
