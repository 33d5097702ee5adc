"""Staff quote a wait to a party that they put on the waiting list."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0006_guest_mail_former"),
    ]

    operations = [
        migrations.AddField(
            model_name="reservation",
            name="quoted_minutes",
            field=models.SmallIntegerField(
                blank=True,
                editable=False,
                help_text="The wait that staff quoted to a party on the waiting list, in minutes from its creation on",
                null=True,
            ),
        ),
    ]
