-- The restaurants around a point, and whether staff or a source state the neighborhood. Locked in the order of their keys, as all
-- writers lock them.
SELECT r.id, r.latitude, r.longitude, r.neighborhood,
    'neighborhood' = ANY (r.locked_fields) OR EXISTS (
        SELECT FROM catalogue_sourcerecord AS record
        WHERE record.restaurant_id = r.id AND 'neighborhood' = ANY (record.fields)
    )
FROM catalogue_restaurant AS r
WHERE r.id > %s AND r.position <@ circle(mercator(%s, %s), %s) AND r.merged_into_id IS NULL AND r.erased_at IS NULL
ORDER BY r.id
LIMIT %s
FOR NO KEY UPDATE OF r
