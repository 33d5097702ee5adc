"""Validate the constraints of 0012 and 0013, and let a payment pay one order."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from framework.db.sql_files import run_sql_files

# Repeatable, because the statements are not one transaction: an interrupted CONCURRENTLY leaves an invalid index.
REMOVE_INVALID = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('a_payment_pays_one_order') AND NOT indisvalid) THEN
        DROP INDEX a_payment_pays_one_order;
    END IF;
END $$
"""
CREATE_INDEX = """
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a_payment_pays_one_order ON orders_order (usdc_payment)
WHERE usdc_payment IS NOT NULL
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0013_order_payments")]

    operations = [
        ValidateConstraint("order", "order_payment_state_matches_payment"),
        ValidateConstraint("orderingsettings", "ordering_settings_usdc_has_a_price"),
        migrations.RunSQL(
            [REMOVE_INVALID, CREATE_INDEX],
            "DROP INDEX IF EXISTS a_payment_pays_one_order",
            state_operations=[
                migrations.AddConstraint(
                    "order",
                    models.UniqueConstraint(
                        fields=["usdc_payment"],
                        name="a_payment_pays_one_order",
                        condition=models.Q(usdc_payment__isnull=False),
                    ),
                )
            ],
        ),
        run_sql_files("orders", "forbid_venue_currency_change"),
    ]
