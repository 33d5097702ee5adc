WITH ahead AS MATERIALIZED (
    SELECT seq, restaurant_id, version, at, kind, patch
    FROM catalogue_version WHERE seq > %(since)s AND seq <= %(upto)s ORDER BY seq LIMIT %(max_scanned)s
)
SELECT ahead.seq, ahead.kind, restaurant.slug, ahead.version, ahead.at, ahead.patch::text, survivor.slug,
    CASE WHEN %(with_record)s THEN record.before END, record.hours, record.after
FROM ahead
JOIN catalogue_restaurant AS restaurant ON restaurant.id = ahead.restaurant_id
LEFT JOIN catalogue_restaurant AS survivor ON survivor.id = restaurant.merged_into_id AND ahead.kind = 'merged'
LEFT JOIN catalogue_record AS record ON %(with_record)s AND record.restaurant_id = restaurant.id
WHERE (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
    AND (%(kinds)s::text[] IS NULL OR ahead.kind = ANY (%(kinds)s))
ORDER BY ahead.seq LIMIT %(rows)s
