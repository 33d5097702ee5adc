"""Keep modifiers on the menu of their dish; validate the constraints of 0006."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from framework.db.sql_files import run_sql_files

UNIQUE = "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS menu_item_of_a_menu ON orders_menuitem (id, menu_id)"
CONSTRAINT = "ALTER TABLE orders_menuitem ADD CONSTRAINT menu_item_of_a_menu UNIQUE USING INDEX menu_item_of_a_menu"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0006_whole_orders")]

    operations = [
        ValidateConstraint("menuitem", "menu_item_takeaway_tax_from_0_to_100_percent"),
        ValidateConstraint("menuitem", "menu_item_diets_known"),
        ValidateConstraint("order", "order_is_served_at_the_venue_or_delivered"),
        ValidateConstraint("order", "order_tip_not_negative"),
        migrations.RunSQL(
            [UNIQUE, CONSTRAINT],
            "ALTER TABLE orders_menuitem DROP CONSTRAINT IF EXISTS menu_item_of_a_menu CASCADE",
            state_operations=[
                migrations.AddConstraint(
                    "menuitem", models.UniqueConstraint(fields=["id", "menu"], name="menu_item_of_a_menu")
                )
            ],
        ),
        run_sql_files("orders", "modifiers_on_one_menu"),
    ]
