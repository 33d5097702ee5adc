-- The last key of each part but the last, and the number of rows.
WITH
counted AS (
    SELECT {key} AS id, row_number() OVER (ORDER BY {key}) AS nth FROM {rows} WHERE {condition}
),
total AS (SELECT count(*) AS rows FROM counted)
SELECT coalesce(
    array_agg(counted.id::text ORDER BY counted.nth) FILTER (
        WHERE counted.nth %% %(rows_per_part)s = 0 AND counted.nth < total.rows
    ), '{{}}'
), (SELECT rows FROM total)
FROM counted, total
