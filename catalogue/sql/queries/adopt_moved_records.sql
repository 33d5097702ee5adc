-- A record without an id has its name and position as its key: at/<hash of the name>/<position>. If a staged one is new
-- and the nearest former one of the same name is not in the file, it has moved a little: it gets the former key.
WITH pairs AS (
    SELECT staged.place, known.record, gap.metres
    FROM catalogue_staged AS staged
    JOIN catalogue_sourcerecord AS known ON known.source_id = %(source)s AND known.record LIKE 'at/%%'
        AND left(known.record, %(prefix)s) = left(staged.record, %(prefix)s)
    JOIN catalogue_restaurant AS restaurant ON restaurant.id = known.restaurant_id
    CROSS JOIN LATERAL (
        SELECT 111320 * sqrt(
            (staged.lat - restaurant.latitude) ^ 2
            + ((staged.lng - restaurant.longitude) * cos(radians(staged.lat))) ^ 2
        ) AS metres
    ) AS gap
    WHERE staged.record LIKE 'at/%%' AND gap.metres <= %(metres)s
        AND NOT EXISTS (
            SELECT FROM catalogue_sourcerecord AS own
            WHERE own.source_id = %(source)s AND own.record = staged.record
        )
        AND NOT EXISTS (SELECT FROM catalogue_staged AS other WHERE other.record = known.record)
), ranked AS (
    SELECT place, record,
        row_number() OVER (PARTITION BY place ORDER BY metres, record) AS of_place,
        row_number() OVER (PARTITION BY record ORDER BY metres, place) AS of_record
    FROM pairs
)
UPDATE catalogue_staged AS staged SET record = ranked.record
FROM ranked WHERE ranked.place = staged.place AND ranked.of_place = 1 AND ranked.of_record = 1
