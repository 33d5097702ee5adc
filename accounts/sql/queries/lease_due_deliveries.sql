-- Leases the delivery that is due longest of each of these endpoints, which the transaction has locked
-- (accounts.webhooks.delivery_queue). The limit is checked again under the lock: another worker may have used it up.
-- MATERIALIZED: a join that looks for the due delivery again would skip the one that it has just updated, and lease the
-- next. The planner chose that while the statistics were those of an empty table.
WITH due AS MATERIALIZED (
    SELECT first.id
    FROM accounts_webhookendpoint AS endpoint
    CROSS JOIN LATERAL (
        SELECT id FROM accounts_webhookdelivery
        WHERE endpoint_id = endpoint.id AND state = 'pending' AND next_attempt_at <= %(now)s
        ORDER BY next_attempt_at{tie} LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) AS first
    WHERE endpoint.id = ANY(%(endpoints)s)
        AND (
            SELECT count(*) FROM accounts_webhookdelivery AS in_flight
            WHERE in_flight.endpoint_id = endpoint.id AND in_flight.state = 'pending'
                AND in_flight.leased_until > %(now)s
        ) < CASE WHEN endpoint.failing_since IS NULL THEN %(max_in_flight)s ELSE %(max_in_flight_failing)s END
)
UPDATE accounts_webhookdelivery AS delivery
SET attempts = delivery.attempts + 1, leased_until = %(until)s, next_attempt_at = %(until)s,
    last_attempt_at = %(now)s
FROM due WHERE delivery.id = due.id
RETURNING delivery.id
