-- The number of attempts is the fencing token: a worker whose lease has expired stores no result.
UPDATE reservations_guestmail SET leased_until = %(until)s, attempts = attempts + 1
WHERE id = (
    SELECT id FROM reservations_guestmail
    WHERE state = 'pending' AND next_attempt_at <= %(now)s AND (leased_until IS NULL OR leased_until <= %(now)s)
    ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id
