-- The dishes of a venue's completed orders in a period, with their ranks. Amounts are those of orders in `currency`.
-- A dish that is on the menu has its present name.
WITH sold AS (
    SELECT line.menu_item_id, max(line.name) AS name, sum(line.quantity) AS quantity,
        sum(line.line_total) FILTER (WHERE placed.currency = %(currency)s) AS amount
    FROM orders_order AS placed JOIN orders_orderitem AS line ON line.order_id = placed.id
    WHERE placed.venue_id = %(venue)s AND placed.status = 'completed'
        AND placed.business_date BETWEEN %(first)s AND %(last)s
    GROUP BY line.menu_item_id
), ranked AS (
    SELECT *, row_number() OVER (ORDER BY quantity DESC, menu_item_id) AS by_quantity,
        row_number() OVER (ORDER BY amount DESC NULLS LAST, menu_item_id) AS by_amount
    FROM sold
)
SELECT coalesce(item.name, ranked.name, ranked.menu_item_id), ranked.menu_item_id, ranked.quantity, ranked.amount,
    by_quantity, by_amount
FROM ranked
LEFT JOIN orders_menu AS menu ON menu.venue_id = %(venue)s
LEFT JOIN orders_menuitem AS item ON item.menu_id = menu.id AND item.ref = ranked.menu_item_id
WHERE least(by_quantity, by_amount) <= %(ranks)s
ORDER BY by_quantity
