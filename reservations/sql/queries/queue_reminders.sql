-- One statement, so that concurrent runs queue each reminder once. Guests who booked or were emailed within the last 24
-- hours before their reservation get none.
INSERT INTO reservations_guestmail
    (id, reservation_id, kind, state, attempts, next_attempt_at, last_error, created_at)
SELECT uuidv7(), reservation.id, 'reminder', 'pending', 0, %(now)s, '', %(now)s
FROM reservations_reservation AS reservation JOIN accounts_venue AS venue ON venue.id = reservation.venue_id
WHERE reservation.starts_at > %(now)s AND reservation.starts_at <= %(now)s + interval '24 hours'
    AND reservation.status = 'confirmed' AND reservation.arrival IS NULL
    AND reservation.created_at <= reservation.starts_at - interval '24 hours'
    AND reservation.customer_email IS NOT NULL AND venue.mails_guests
    AND (venue.id = %(venue)s OR %(venue)s::uuid IS NULL AND NOT EXISTS (
        SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = venue.id
    ))
    AND NOT EXISTS (
        SELECT FROM reservations_guestmail AS mail
        WHERE mail.reservation_id = reservation.id
            AND mail.created_at > reservation.starts_at - interval '24 hours'
    )
ON CONFLICT (reservation_id) WHERE kind = 'reminder' DO NOTHING
