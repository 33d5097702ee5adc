-- A menu item and its category belong to the same menu: a foreign key of two columns, which a Django model cannot express.
-- It refers to the unique constraint menu_category_of_a_menu (orders/models/menus.py).
-- Deferred, because Django deletes the rows of a menu one table after the other.
ALTER TABLE orders_menuitem
    DROP CONSTRAINT IF EXISTS menu_item_and_its_category_on_one_menu,
    ADD CONSTRAINT menu_item_and_its_category_on_one_menu
        FOREIGN KEY (category_id, menu_id) REFERENCES orders_menucategory (id, menu_id) DEFERRABLE INITIALLY DEFERRED;
