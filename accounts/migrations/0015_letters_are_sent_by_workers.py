"""Mail to people who sign in, until it is sent."""

from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_calls_are_logged")]

    operations = [
        migrations.CreateModel(
            name="Letter",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("address", models.CharField(max_length=254)),
                ("subject", models.CharField(max_length=300)),
                ("text", models.TextField(editable=False, help_text="Sealed")),
                ("created_at", models.DateTimeField()),
                ("next_try_at", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["next_try_at"], name="letter_due")]},
        ),
    ]
