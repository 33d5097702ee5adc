"""Write the events of payments, and forbid their change."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0001_initial"),
    ]

    operations = [
        run_sql_files(
            "payments",
            "insert_payment_event",
            "forbid_payment_event_change",
        ),
    ]
