-- Two expressions of assign_best and assign_named.
-- FOR KEY SHARE: the tables keep their names until the end of the transaction (reservations.floor.tables).
chosen AS (
    SELECT id, name FROM reservations_table WHERE {condition} ORDER BY id FOR KEY SHARE
), assigned AS (
    INSERT INTO reservations_seating (reservation_id, hold_id, table_id, during)
    SELECT %(reservation)s::uuid, %(hold)s::uuid, id, tstzrange(%(starts_at)s, %(ends_at)s) FROM chosen ORDER BY id
    ON CONFLICT DO NOTHING
    RETURNING table_id
)
