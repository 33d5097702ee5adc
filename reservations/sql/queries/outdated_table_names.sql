-- Reservations that have not ended and name other tables than their seatings. Past ones keep the old names.
SELECT reservation.id
FROM reservations_reservation AS reservation
JOIN reservations_seating AS seating ON seating.reservation_id = reservation.id
JOIN reservations_table AS named ON named.id = seating.table_id
WHERE seating.during && tstzrange(%(now)s, NULL) AND (
    named.venue_id = %(venue)s OR %(venue)s::uuid IS NULL AND NOT EXISTS (
        SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = named.venue_id
    )
  )
  AND reservation.ends_at > %(now)s
GROUP BY reservation.id
HAVING NOT reservation.tables::text[] @> array_agg(named.name::text)
ORDER BY reservation.id
