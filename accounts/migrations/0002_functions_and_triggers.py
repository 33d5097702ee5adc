"""Count changes of API keys, and records of venues."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        run_sql_files(
            "accounts",
            "count_api_key_change",
            "update_record_counts",
        ),
    ]
