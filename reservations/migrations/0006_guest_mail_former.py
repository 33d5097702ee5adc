"""Mail about a change says what was before it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reservations", "0005_seating_by_hold")]

    operations = [
        migrations.AddField(
            model_name="guestmail",
            name="former",
            field=models.JSONField(
                blank=True,
                help_text="Date, time and party size before the change that the email is about",
                null=True,
            ),
        ),
    ]
