-- The constraint seating_no_table_overlap forbids these, but a restored copy may lack it.
SELECT coalesce(seating.reservation_id, other.reservation_id),
    concat('table ', named.name, ' is also taken by another, ', other.during * seating.during)
FROM reservations_seating AS seating
JOIN reservations_seating AS other
    ON other.table_id = seating.table_id AND other.during && seating.during AND other.id > seating.id
JOIN reservations_table AS named ON named.id = seating.table_id
-- Two holds end within minutes.
WHERE coalesce(seating.reservation_id, other.reservation_id) IS NOT NULL
ORDER BY seating.id, other.id
