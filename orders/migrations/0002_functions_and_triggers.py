"""Count orders, and forbid a change of the currency of priced menus."""

from django.db import migrations

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0001_initial"),
        ("accounts", "0002_functions_and_triggers"),
    ]

    operations = [
        run_sql_files(
            "orders",
            "menu_item_and_its_category_on_one_menu",
            "count_orders",
            "forbid_venue_currency_change",
        ),
    ]
