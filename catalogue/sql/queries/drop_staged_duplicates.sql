-- Deletes later rows of a record and returns those with other content.
WITH later AS (
    DELETE FROM catalogue_staged AS later USING (
        SELECT DISTINCT ON (record) record, place, number, digest FROM catalogue_staged ORDER BY record, place
    ) AS first
    WHERE later.record = first.record AND later.place > first.place
    RETURNING later.place, later.file, later.number, later.record, later.digest <> first.digest AS is_conflict,
        later.content, first.number AS first
)
SELECT file, number, record, first, content
FROM later WHERE is_conflict ORDER BY place
