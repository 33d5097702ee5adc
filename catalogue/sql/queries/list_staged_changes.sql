-- A page of the staged rows that differ from the catalogue.
SELECT staged.place, staged.file, staged.number, staged.record, staged.digest, staged.market, staged.lat, staged.lng,
    staged.content
FROM catalogue_staged AS staged
LEFT JOIN catalogue_sourcerecord AS known ON known.source_id = %(source)s AND known.record = staged.record
WHERE staged.place > %(after)s AND known.digest IS DISTINCT FROM staged.digest AND (%(new)s OR known.id IS NOT NULL)
ORDER BY staged.place LIMIT %(limit)s
