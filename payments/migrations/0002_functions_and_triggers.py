"""Write the events of payments, and forbid their change."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0001_prices_payments_and_wallets"),
    ]

    operations = [
        # The names that they had while the first migration defined them.
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS payments_write_event, payments_events_stay CASCADE",
            migrations.RunSQL.noop,
        ),
        run_sql_files(
            "payments",
            "insert_payment_event",
            "forbid_payment_event_change",
        ),
    ]
