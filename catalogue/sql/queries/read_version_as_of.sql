-- The version at that moment, and the later patches, the newest first.
SELECT
    restaurant.id, to_jsonb(restaurant)::text, as_of.version, as_of.at,
    coalesce((
        SELECT jsonb_agg(later.patch ORDER BY later.version DESC)
        FROM catalogue_version AS later
        WHERE later.restaurant_id = restaurant.id AND later.version > as_of.version
    ), '[]')::text
FROM catalogue_restaurant AS restaurant
LEFT JOIN LATERAL (
    SELECT version, at FROM catalogue_version
    WHERE restaurant_id = restaurant.id AND at <= %(at)s ORDER BY version DESC LIMIT 1
) AS as_of ON true
WHERE restaurant.slug = %(slug)s AND restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
