-- A record in several rows is merged into its first row; the order of the rows does not matter.
WITH grouped AS (
    SELECT min(place) AS first, count(*) AS parts, string_agg(digest, '' ORDER BY digest) AS digests,
        '[' || string_agg(content, ',' ORDER BY place) || ']' AS content,
        (array_agg(lat ORDER BY place) FILTER (WHERE lat IS NOT NULL))[1] AS lat,
        (array_agg(lng ORDER BY place) FILTER (WHERE lng IS NOT NULL))[1] AS lng
    FROM catalogue_staged GROUP BY record
)
UPDATE catalogue_staged AS staged
SET digest = encode(sha256(grouped.digests::bytea), 'hex'), content = grouped.content,
    lat = grouped.lat, lng = grouped.lng
FROM grouped WHERE staged.place = grouped.first
