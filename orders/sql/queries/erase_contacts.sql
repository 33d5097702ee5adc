-- The contacts of orders that are older than their venue, or the installation, keeps guests; and those in their events.
WITH expired AS (
    SELECT placed.id FROM orders_order AS placed JOIN accounts_venue AS venue ON venue.id = placed.venue_id
    WHERE NOT (placed.contact_name = '' AND placed.contact_phone = '' AND placed.contact_email = '')
        AND placed.created_at < %(now)s AND greatest(placed.created_at, placed.requested_at) < %(now)s - make_interval(
            days => least(venue.forgets_guests_after_days, nullif(%(max_days)s, 0))
        )
    LIMIT %(batch)s FOR NO KEY UPDATE OF placed SKIP LOCKED
), erased AS (
    UPDATE orders_order SET contact_name = '', contact_phone = '', contact_email = ''
    FROM expired WHERE orders_order.id = expired.id RETURNING orders_order.id
), event AS (
    UPDATE accounts_event SET record = jsonb_set(record, '{fulfilment,contact}', 'null')
    FROM erased WHERE subject = erased.id AND record #> '{fulfilment,contact}' IS NOT NULL
    RETURNING accounts_event.id
), delivery AS (
    UPDATE accounts_webhookdelivery SET last_response = '' FROM event WHERE event_id = event.id
)
SELECT count(*) FROM erased
