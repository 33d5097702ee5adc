"""Count changes of API keys, and records of venues."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_people_venues_keys_and_events"),
    ]

    operations = [
        # The names that they had while the first migration defined them.
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS accounts_count_key_change, accounts_count_records CASCADE",
            migrations.RunSQL.noop,
        ),
        run_sql_files(
            "accounts",
            "count_api_key_change",
            "update_record_counts",
        ),
    ]
