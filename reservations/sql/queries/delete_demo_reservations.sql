-- Deletes the reservations of the demo (accounts.demo.rows) with all that belongs to them; returns how many.
-- Each change of a reservation stores an event, so one that somebody has changed has an event that is not the demo's.
WITH deleted AS (
    DELETE FROM reservations_reservation AS reservation
    WHERE venue_id = %(venue)s AND uuid_extract_version(id) = 8 AND (%(is_changed_too)s OR NOT EXISTS (
        SELECT FROM accounts_event WHERE subject = reservation.id AND uuid_extract_version(id) <> 8
    ))
    RETURNING id
), seatings AS (
    DELETE FROM reservations_seating USING deleted WHERE reservation_id = deleted.id
), mails AS (
    DELETE FROM reservations_guestmail USING deleted WHERE reservation_id = deleted.id
), online_bookings AS (
    DELETE FROM reservations_onlinebooking USING deleted WHERE reservation_id = deleted.id
), events AS (
    DELETE FROM accounts_event AS event USING deleted WHERE event.subject = deleted.id RETURNING event.id
), deliveries AS (
    DELETE FROM accounts_webhookdelivery USING events WHERE event_id = events.id
), alerts AS (
    DELETE FROM accounts_alert USING events WHERE event_id = events.id
)
SELECT count(*) FROM deleted
