-- The modifier groups of these dishes, and the groups that their modifiers ask for, each with its modifiers in their order.
WITH asked AS (
    SELECT item.ref AS item_ref, of_item.group_id, of_item.position
    FROM orders_itemmodifiergroup AS of_item
    JOIN orders_menuitem AS item ON item.id = of_item.item_id
    WHERE item.menu_id = %(menu)s AND item.ref = ANY(%(refs)s)
), needed AS (
    SELECT group_id FROM asked
    UNION
    SELECT nested_group_id FROM orders_modifier WHERE nested_group_id IS NOT NULL AND group_id IN (SELECT group_id FROM asked)
)
SELECT id, ref, name, min_choices, max_choices,
    (SELECT jsonb_object_agg(item_ref, position) FROM asked WHERE group_id = modifier_group.id),
    array(
        SELECT jsonb_build_array(modifier.ref, modifier.name, modifier.price_delta::text, modifier.is_default,
            modifier.is_available, modifier.nested_group_id, item.ref)
        FROM orders_modifier AS modifier LEFT JOIN orders_menuitem AS item ON item.id = modifier.item_id
        WHERE modifier.group_id = modifier_group.id
        ORDER BY modifier.position, modifier.name, modifier.id
    )
FROM orders_modifiergroup AS modifier_group
WHERE id IN (SELECT group_id FROM needed)
ORDER BY ref
