-- Per market the records of the source, those with another digest, and those that are missing in the release. Markets
-- without a row in the release are left out.
SELECT restaurant.market_id, count(*),
    count(*) FILTER (WHERE staged.digest <> known.digest),
    count(*) FILTER (WHERE staged.record IS NULL AND restaurant.status <> 'permanently_closed')
FROM catalogue_sourcerecord AS known
JOIN catalogue_restaurant AS restaurant ON restaurant.id = known.restaurant_id
LEFT JOIN catalogue_staged AS staged ON staged.record = known.record
WHERE known.source_id = %(source)s AND known.digest <> %(missing)s
    AND restaurant.market_id IN (SELECT market FROM catalogue_staged)
    AND restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
GROUP BY restaurant.market_id ORDER BY restaurant.market_id
