"""The language of the dashboard that a user has chosen."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_staff_access"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="One of settings.DASHBOARD_LANGUAGES; empty for that of the browser",
                max_length=10,
            ),
        ),
    ]
