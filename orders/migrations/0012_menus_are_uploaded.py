"""Files of menus are kept while people look at what they would change."""

import django.db.models.deletion
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [("accounts", "0016_rows_keep_their_history"), ("orders", "0011_rows_keep_their_history")]

    operations = [
        migrations.CreateModel(
            name="MenuUpload",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("file_name", models.CharField(max_length=200)),
                ("content", models.JSONField(help_text="What orders.menu_files read")),
                ("created_at", models.DateTimeField()),
                ("applied_at", models.DateTimeField(blank=True, null=True)),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="menu_uploads",
                        to="accounts.venue",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["venue", "-created_at"], name="menu_upload_newest_of_venue")],
            },
        ),
    ]
