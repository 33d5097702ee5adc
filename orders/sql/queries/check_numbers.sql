-- Numbers are unique (a constraint), so none is missing if the highest equals the count. The orders of closed accounts
-- are being deleted in batches. Venues whose demo data was moved or removed may lack numbers before the highest.
SELECT venue_id, business_date || ': ' || count(placed.id) || ' orders, the highest number is '
    || coalesce(max(placed.number), 0) || ', ' || coalesce(max(counted.last), 0) || ' were assigned'
FROM orders_order AS placed
FULL JOIN orders_ordernumber AS counted USING (venue_id, business_date)
JOIN accounts_venue AS venue ON venue.id = venue_id
JOIN accounts_account AS account ON account.id = venue.account_id AND account.closed_at IS NULL
LEFT JOIN accounts_demodata AS demo USING (venue_id)
GROUP BY venue_id, business_date
HAVING coalesce(max(placed.number), 0) <> coalesce(max(counted.last), 0)
    OR count(placed.id) <> coalesce(max(placed.number), 0) AND count(demo.venue_id) = 0
ORDER BY venue_id, business_date
