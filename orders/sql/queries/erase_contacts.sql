-- The contacts and the notes of orders that are older than their venue, or the installation, keeps guests, or of the orders
-- with these ids; and those in their events.
WITH expired AS (
    SELECT placed.id FROM orders_order AS placed JOIN accounts_venue AS venue ON venue.id = placed.venue_id
    WHERE NOT (placed.contact_name = '' AND placed.contact_phone = '' AND placed.contact_email = '') AND {condition}
    LIMIT %(batch)s FOR NO KEY UPDATE OF placed {locked}
), erased AS (
    UPDATE orders_order SET contact_name = '', contact_phone = '', contact_email = ''
    FROM expired WHERE orders_order.id = expired.id RETURNING orders_order.id
), line AS (
    UPDATE orders_orderitem SET notes = '' FROM erased WHERE order_id = erased.id AND notes <> ''
), event AS (
    UPDATE accounts_event SET record = jsonb_set(record, '{{fulfilment,contact}}', 'null') || jsonb_build_object(
        'items', (
            SELECT coalesce(jsonb_agg(item || '{{"notes": ""}}' ORDER BY nth), '[]')
            FROM jsonb_array_elements(record -> 'items') WITH ORDINALITY AS line (item, nth)
        )
    )
    FROM erased WHERE subject = erased.id AND record #> '{{fulfilment,contact}}' IS NOT NULL
    RETURNING accounts_event.id
), delivery AS (
    UPDATE accounts_webhookdelivery SET last_response = '' FROM event WHERE event_id = event.id
)
SELECT count(*) FROM erased
