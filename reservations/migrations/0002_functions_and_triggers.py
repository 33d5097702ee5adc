"""Count reservations, and forbid a change of the time zone before them."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0001_reservations_tables_and_guests"),
        ("accounts", "0002_functions_and_triggers"),
    ]

    operations = [
        # The names that they had while the first migration defined them.
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS reservations_venue_keeps_its_zone CASCADE",
            migrations.RunSQL.noop,
        ),
        run_sql_files(
            "reservations",
            "count_reservations",
            "forbid_venue_timezone_change",
        ),
    ]
