-- Seatings of cancelled reservations, at tables of other venues, or outside of the stay.
SELECT reservation.id, concat('it holds table ', named.name, ' ', seating.during, ', ', CASE
    WHEN reservation.status = 'cancelled' THEN 'and is cancelled'
    WHEN named.venue_id <> reservation.venue_id THEN 'which is of another venue'
    ELSE concat('and its time is ', tstzrange(reservation.starts_at, reservation.ends_at))
END)
FROM reservations_seating AS seating
JOIN reservations_reservation AS reservation ON reservation.id = seating.reservation_id
JOIN reservations_table AS named ON named.id = seating.table_id
WHERE reservation.status = 'cancelled' OR named.venue_id <> reservation.venue_id
    OR NOT tstzrange(reservation.starts_at, reservation.ends_at) @> seating.during
ORDER BY seating.id
