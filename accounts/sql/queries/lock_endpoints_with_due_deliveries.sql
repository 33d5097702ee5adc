-- Locks endpoints that have a due webhook delivery and may get another attempt (accounts.webhooks.delivery_queue).
-- A leased delivery has its next attempt at the end of its lease, so the due ones are one range of an index, and the
-- leased ones are in another index. Clocks of workers may differ by the lease minus the timeout. One index step finds
-- each endpoint with pending deliveries. Endpoints that another worker has locked are skipped.
-- Without `is_slow`, of both speeds. Healthy endpoints come before failing ones, then the longest due first. Slow
-- endpoints are picked at random: by age, the one with the longest backlog would always be first.
-- With `venue` of this one, otherwise of all venues without a clock of their own (accounts.sandbox_clock).
-- An endpoint that is postponed for longer than any was postponed while the clock was ahead.
WITH RECURSIVE waiting AS (
    (SELECT endpoint_id FROM accounts_webhookdelivery 
        WHERE state = 'pending' AND %(venue)s::uuid IS NULL ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT later.endpoint_id FROM accounts_webhookdelivery AS later
        WHERE later.state = 'pending' AND later.endpoint_id > waiting.endpoint_id
        ORDER BY later.endpoint_id LIMIT 1
    )
    FROM waiting WHERE waiting.endpoint_id IS NOT NULL
), asked AS (
    SELECT endpoint_id FROM waiting
    UNION ALL
    SELECT id FROM accounts_webhookendpoint WHERE venue_id = %(venue)s
)
SELECT endpoint.id
FROM asked AS waiting
JOIN accounts_webhookendpoint AS endpoint ON endpoint.id = waiting.endpoint_id
CROSS JOIN LATERAL (
    SELECT first.next_attempt_at FROM accounts_webhookdelivery AS first
    WHERE first.endpoint_id = endpoint.id AND first.state = 'pending' AND first.next_attempt_at <= %(now)s
    ORDER BY first.next_attempt_at LIMIT 1
) AS due
CROSS JOIN LATERAL (
    SELECT count(*) AS attempts, coalesce(bool_or(last_attempt_at < %(slow_since)s), FALSE) AS has_slow_attempt
    FROM accounts_webhookdelivery AS leased
    WHERE leased.endpoint_id = endpoint.id AND leased.state = 'pending' AND leased.leased_until > %(now)s
) AS in_flight
WHERE endpoint.disabled_at IS NULL
    AND (%(venue)s::uuid IS NOT NULL OR NOT EXISTS (
        SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = endpoint.venue_id
    ))
    AND coalesce(endpoint.postponed_until <= %(now)s OR endpoint.postponed_until > %(postponed_at_most)s, TRUE)
    AND in_flight.attempts
        < CASE WHEN endpoint.failing_since IS NULL THEN %(max_in_flight)s ELSE %(max_in_flight_failing)s END
    AND coalesce((endpoint.is_slow OR in_flight.has_slow_attempt) = %(is_slow)s::boolean, TRUE)
ORDER BY
    CASE WHEN %(is_slow)s::boolean THEN random() END, endpoint.failing_since IS NOT NULL, due.next_attempt_at
LIMIT %(limit)s
FOR NO KEY UPDATE OF endpoint SKIP LOCKED
