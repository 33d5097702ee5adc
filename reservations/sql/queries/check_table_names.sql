-- Past reservations keep the names that their tables had. A rename is applied within a minute (floor.tables).
SELECT reservation.id,
    concat('it names ', array_to_string(reservation.tables, ', '), ' and holds ', held.names)
FROM reservations_reservation AS reservation
CROSS JOIN LATERAL (
    SELECT %(now)s + coalesce(
        (SELECT "offset" FROM accounts_sandboxclock WHERE venue_id = reservation.venue_id), interval '0'
    ) AS now
) AS clock
CROSS JOIN LATERAL (
    SELECT string_agg(named.name, ', ' ORDER BY named.name COLLATE "C") AS names,
        array_agg(named.name::text) AS name_array
    FROM reservations_seating AS seating
    JOIN reservations_table AS named ON named.id = seating.table_id
    WHERE seating.reservation_id = reservation.id AND seating.during && tstzrange(clock.now, NULL)
) AS held
WHERE reservation.ends_at > clock.now AND NOT reservation.tables::text[] @> held.name_array
ORDER BY reservation.id
