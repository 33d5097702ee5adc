from django.db import migrations

# Deferred, because Django deletes a menu's rows one table after the other.
SAME_MENU = """
ALTER TABLE orders_menucategory ADD CONSTRAINT menu_category_of_a_menu UNIQUE (id, menu_id);
ALTER TABLE orders_menuitem ADD CONSTRAINT menu_item_and_its_category_on_one_menu
    FOREIGN KEY (category_id, menu_id) REFERENCES orders_menucategory (id, menu_id) DEFERRABLE INITIALLY DEFERRED;
"""
ANY_MENU = """
ALTER TABLE orders_menuitem DROP CONSTRAINT menu_item_and_its_category_on_one_menu;
ALTER TABLE orders_menucategory DROP CONSTRAINT menu_category_of_a_menu;
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0003_orders_are_counted")]

    operations = [migrations.RunSQL(SAME_MENU, ANY_MENU)]
