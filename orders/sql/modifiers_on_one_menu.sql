-- A group, its modifiers, the groups and dishes that these name, and the dishes that ask for the group belong to the same menu:
-- foreign keys of two columns, which a Django model cannot express (orders/models/modifiers.py).
-- Deferred, because Django deletes the rows of a menu one table after the other.
ALTER TABLE orders_modifier
    DROP CONSTRAINT IF EXISTS modifier_and_its_group_on_one_menu,
    ADD CONSTRAINT modifier_and_its_group_on_one_menu
        FOREIGN KEY (group_id, menu_id) REFERENCES orders_modifiergroup (id, menu_id) DEFERRABLE INITIALLY DEFERRED,
    DROP CONSTRAINT IF EXISTS modifier_and_its_nested_group_on_one_menu,
    ADD CONSTRAINT modifier_and_its_nested_group_on_one_menu
        FOREIGN KEY (nested_group_id, menu_id) REFERENCES orders_modifiergroup (id, menu_id) DEFERRABLE INITIALLY DEFERRED,
    DROP CONSTRAINT IF EXISTS modifier_and_its_dish_on_one_menu,
    ADD CONSTRAINT modifier_and_its_dish_on_one_menu
        FOREIGN KEY (item_id, menu_id) REFERENCES orders_menuitem (id, menu_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE orders_itemmodifiergroup
    DROP CONSTRAINT IF EXISTS item_modifier_group_on_one_menu,
    ADD CONSTRAINT item_modifier_group_on_one_menu
        FOREIGN KEY (group_id, menu_id) REFERENCES orders_modifiergroup (id, menu_id) DEFERRABLE INITIALLY DEFERRED,
    DROP CONSTRAINT IF EXISTS item_with_a_modifier_group_on_one_menu,
    ADD CONSTRAINT item_with_a_modifier_group_on_one_menu
        FOREIGN KEY (item_id, menu_id) REFERENCES orders_menuitem (id, menu_id) DEFERRABLE INITIALLY DEFERRED;
