-- Returns no row if nothing is free, else the names and whether all of the tables were assigned.
WITH free AS (
    SELECT id, name, seats_min, seats_max, priority
    FROM reservations_table AS candidate
    WHERE venue_id = %(venue)s AND is_active AND (%(area)s::uuid IS NULL OR area_id = %(area)s) AND NOT EXISTS (
        SELECT FROM reservations_seating AS seating
        LEFT JOIN reservations_hold AS hold ON hold.id = seating.hold_id
        WHERE seating.table_id = candidate.id AND seating.during && tstzrange(%(starts_at)s, %(ends_at)s)
          -- A concurrent transaction may have deleted it; the insert waits for that.
          AND (hold.expires_at IS NULL OR hold.expires_at > %(now)s)
    )
), candidates AS (
    SELECT 0 AS is_combination, seats_max, priority, name, ARRAY[id] AS tables
    FROM free
    WHERE %(party_size)s BETWEEN seats_min AND seats_max
    UNION ALL
    SELECT 1, combination.seats_max, combination.priority, combination.name, array_agg(free.id)
    FROM reservations_combination AS combination
    JOIN reservations_combination_tables AS part ON part.combination_id = combination.id
    LEFT JOIN free ON free.id = part.table_id
    WHERE combination.venue_id = %(venue)s AND combination.is_active
      AND %(party_size)s BETWEEN combination.seats_min AND combination.seats_max
    GROUP BY combination.id
    HAVING count(free.id) = count(*) AND count(*) > 1
), best_fit AS (
    SELECT tables FROM candidates ORDER BY is_combination, seats_max, priority, name COLLATE "C" LIMIT 1
), {persist}
SELECT (SELECT array_agg(name ORDER BY name COLLATE "C") FROM chosen),
       cardinality(tables) = (SELECT count(*) FROM assigned)
FROM best_fit
