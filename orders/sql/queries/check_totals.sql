-- An order does not store whether prices include tax: its lines and charges sum up to the total less the tip, or to the subtotal.
SELECT placed.id, CASE
    WHEN lines = 0 THEN 'it has no lines'
    WHEN is_wrong THEN 'a line is not its price times its quantity'
    WHEN placed.total IS NULL THEN 'it has no total, and a priced line or another sum'
    WHEN priced < lines THEN 'it has a total, and a line without a price'
    WHEN placed.subtotal + placed.tax + coalesce(placed.tip, 0) IS DISTINCT FROM placed.total
        THEN concat('subtotal ', placed.subtotal, ' and tax ', placed.tax, ' are not the total ', placed.total)
    ELSE concat('its lines sum up to ', amount, ', subtotal ', placed.subtotal, ', total ', placed.total)
END
FROM orders_order AS placed
CROSS JOIN LATERAL (
    SELECT coalesce(sum((charge ->> 'amount')::numeric), 0) AS sum FROM jsonb_array_elements(placed.charges) AS charge
) AS charged
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, count(line_total) AS priced, sum(line_total) + charged.sum AS amount,
        coalesce(bool_or(line_total IS DISTINCT FROM unit_price * quantity), false) AS is_wrong
    FROM orders_orderitem WHERE order_id = placed.id
) AS of_lines
WHERE lines = 0 OR is_wrong
    OR placed.total IS NULL AND (priced > 0 OR placed.subtotal IS NOT NULL OR placed.tax IS NOT NULL)
    OR placed.total IS NOT NULL AND (
        priced < lines OR placed.subtotal + placed.tax + coalesce(placed.tip, 0) IS DISTINCT FROM placed.total
        OR amount NOT IN (placed.subtotal, placed.total - coalesce(placed.tip, 0))
    )
ORDER BY placed.id
