"""Count reservations, and forbid a change of the time zone before them."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0001_initial"),
        ("accounts", "0002_functions_and_triggers"),
    ]

    operations = [
        run_sql_files(
            "reservations",
            "count_reservations",
            "forbid_venue_timezone_change",
        ),
    ]
