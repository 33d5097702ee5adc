-- A page of the records that are missing in the staged release.
SELECT known.id, known.restaurant_id
FROM catalogue_sourcerecord AS known
JOIN catalogue_restaurant AS restaurant ON restaurant.id = known.restaurant_id
WHERE known.source_id = %(source)s AND known.digest <> %(missing)s AND known.id > %(after)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND NOT EXISTS (SELECT FROM catalogue_staged AS staged WHERE staged.record = known.record)
ORDER BY known.id LIMIT %(limit)s
