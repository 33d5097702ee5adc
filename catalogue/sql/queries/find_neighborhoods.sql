-- The nearest neighborhood to each place, as long as the column of a restaurant. The circle on the Mercator plane contains a little more than the radius; the exact distance is checked in Python.
SELECT wanted.number, near.name, near.latitude, near.longitude
FROM unnest(%s::integer[], %s::float8[], %s::float8[], %s::float8[]) AS wanted (number, lat, lng, reach)
CROSS JOIN LATERAL (
    SELECT left(name, 120) AS name, latitude, longitude
    FROM catalogue_landmark
    WHERE kind = %s AND position <@ circle(mercator(wanted.lat, wanted.lng), wanted.reach)
    ORDER BY position <-> mercator(wanted.lat, wanted.lng), id
    LIMIT 1
) AS near
