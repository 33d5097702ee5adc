-- Of one venue, or of all without a clock of their own (accounts.sandbox_clock).
-- The number of attempts is the fencing token: a worker whose lease has expired stores no result.
UPDATE reservations_guestmail SET leased_until = %(until)s, attempts = attempts + 1
WHERE id = (
    SELECT id FROM reservations_guestmail AS mail
    WHERE state = 'pending' AND next_attempt_at <= %(now)s AND (leased_until IS NULL OR leased_until <= %(now)s)
        AND EXISTS (
            SELECT FROM reservations_reservation AS reservation WHERE reservation.id = mail.reservation_id
                AND (reservation.venue_id = %(venue)s OR %(venue)s::uuid IS NULL AND NOT EXISTS (
                    SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = reservation.venue_id
                ))
        )
    ORDER BY next_attempt_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id
