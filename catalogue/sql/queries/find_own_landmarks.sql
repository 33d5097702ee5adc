-- Own landmarks with the same name nearby on the Mercator plane; the great-circle distance is checked in Python.
-- OFFSET 0 is an optimization fence: without statistics PostgreSQL would fold the name of each line for each landmark.
SELECT wanted.number, near.id, near.latitude, near.longitude
FROM unnest(%s::integer[], %s::text[], %s::float8[], %s::float8[], %s::float8[])
    AS wanted (number, name, lat, lng, reach)
CROSS JOIN LATERAL (
    SELECT id, source_id, latitude, longitude, prominence FROM catalogue_landmark
    WHERE position <@ circle(mercator(wanted.lat, wanted.lng), wanted.reach) OFFSET 0
) AS near
WHERE near.source_id = %s AND EXISTS (
    SELECT FROM catalogue_landmarkname AS known
    WHERE known.landmark_id = near.id AND known.folded = fold(wanted.name) OFFSET 0
)
ORDER BY near.prominence, near.id
