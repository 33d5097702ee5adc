"""Which sandboxes have demo data."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_user_last_venue"),
    ]

    operations = [
        migrations.CreateModel(
            name="DemoData",
            fields=[
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="demo_data",
                        serialize=False,
                        to="accounts.venue",
                    ),
                ),
                (
                    "filled_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When it was added, or last moved to the current day; empty: it was removed",
                        null=True,
                    ),
                ),
            ],
        ),
    ]
