"""Count orders, and forbid a change of the currency of priced menus."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0001_orders_and_menus"),
        ("accounts", "0002_functions_and_triggers"),
    ]

    operations = [
        # The names that they had while the first migration defined them.
        migrations.RunSQL(
            "DROP FUNCTION IF EXISTS venue_keeps_its_currency CASCADE",
            migrations.RunSQL.noop,
        ),
        run_sql_files(
            "orders",
            "count_orders",
            "forbid_venue_currency_change",
        ),
    ]
