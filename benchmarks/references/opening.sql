-- Opening periods as a table, as those have them who do not keep them in a multirange: a row each time a place is open.
CREATE SCHEMA IF NOT EXISTS reference;
DROP TABLE IF EXISTS reference.opening;
CREATE TABLE reference.opening (restaurant_id uuid NOT NULL, opens timestamptz NOT NULL, closes timestamptz NOT NULL);
-- What ends where the worked out days end has no end that is known: the year 9999 stands for it.
INSERT INTO reference.opening
SELECT row.restaurant_id, lower(span), CASE WHEN upper(span) >= row.intervals_until THEN '9999-01-01 00:00Z' ELSE upper(span) END
FROM catalogue_searchrow AS row, unnest(row.open_intervals) AS span
WHERE NOT row.is_shut
ORDER BY row.restaurant_id, lower(span);
CREATE INDEX opening_of_restaurant ON reference.opening (restaurant_id, closes) INCLUDE (opens);
VACUUM (ANALYZE) reference.opening;
