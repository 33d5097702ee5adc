"""Keep modifiers on the menu of their dish, forbid a change of their currency, validate the constraints of 0006."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from framework.db.sql_files import run_sql_files

# Repeatable, because the statements are not one transaction: an interrupted CONCURRENTLY leaves an invalid index.
REMOVE_INVALID = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('menu_item_of_a_menu') AND NOT indisvalid) THEN
        DROP INDEX menu_item_of_a_menu;
    END IF;
END $$
"""
CREATE_INDEX = "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS menu_item_of_a_menu ON orders_menuitem (id, menu_id)"
ADD_CONSTRAINT = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'menu_item_of_a_menu') THEN
        ALTER TABLE orders_menuitem ADD CONSTRAINT menu_item_of_a_menu UNIQUE USING INDEX menu_item_of_a_menu;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0006_whole_orders")]

    operations = [
        ValidateConstraint("menuitem", "menu_item_takeaway_tax_from_0_to_100_percent"),
        ValidateConstraint("menuitem", "menu_item_diets_known"),
        ValidateConstraint("order", "order_is_served_at_the_venue_or_delivered"),
        ValidateConstraint("order", "order_tip_not_negative"),
        migrations.RunSQL(
            [REMOVE_INVALID, CREATE_INDEX, ADD_CONSTRAINT],
            "ALTER TABLE orders_menuitem DROP CONSTRAINT IF EXISTS menu_item_of_a_menu CASCADE",
            state_operations=[
                migrations.AddConstraint(
                    "menuitem", models.UniqueConstraint(fields=["id", "menu"], name="menu_item_of_a_menu")
                )
            ],
        ),
        run_sql_files("orders", "modifiers_on_one_menu", "forbid_venue_currency_change"),
    ]
