-- Deletes the orders of the demo (accounts.demo.rows) with their lines, events, deliveries and alerts; returns how many.
-- Each change of an order stores an event, so an order that somebody has changed has an event that is not the demo's.
WITH deleted AS (
    DELETE FROM orders_order AS placed
    WHERE venue_id = %(venue)s AND uuid_extract_version(id) = 8 AND (%(is_changed_too)s OR NOT EXISTS (
        SELECT FROM accounts_event WHERE subject = placed.id AND uuid_extract_version(id) <> 8
    ))
    RETURNING id
), lines AS (
    DELETE FROM orders_orderitem USING deleted WHERE order_id = deleted.id
), events AS (
    DELETE FROM accounts_event AS event USING deleted WHERE event.subject = deleted.id RETURNING event.id
), deliveries AS (
    DELETE FROM accounts_webhookdelivery USING events WHERE event_id = events.id
), alerts AS (
    DELETE FROM accounts_alert USING events WHERE event_id = events.id
)
SELECT count(*) FROM deleted
