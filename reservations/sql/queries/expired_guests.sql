-- Reservations before the cutoff whose guest has no later one with the same email address or number.
SELECT expired.ends_at, expired.id, retention.cutoff
FROM accounts_venue AS venue
CROSS JOIN LATERAL (
    SELECT %(now)s - make_interval(days => least(venue.forgets_guests_after_days, nullif(%(max_days)s, 0))) AS cutoff
) AS retention
JOIN reservations_reservation AS expired ON expired.venue_id = venue.id AND expired.starts_at < retention.cutoff
WHERE (venue.id = %(venue)s OR %(venue)s::uuid IS NULL AND NOT EXISTS (
        SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = venue.id
    ))
    AND expired.erased_at IS NULL AND expired.ends_at < retention.cutoff AND expired.created_at < retention.cutoff
    AND (expired.ends_at, expired.id) > (%(ends_at)s, %(id)s)
    AND NOT EXISTS (
        SELECT FROM reservations_reservation AS later
        WHERE later.venue_id = expired.venue_id
            AND (later.ends_at >= retention.cutoff OR later.created_at >= retention.cutoff)
            AND (
                lower(later.customer_email) = lower(expired.customer_email)
                OR later.customer_phone = expired.customer_phone
            )
    )
ORDER BY expired.ends_at, expired.id
LIMIT %(batch)s
