-- Open restaurants whose folded name is similar, of one market or of all.
SELECT r.id, r.name, r.alt_names, r.line1, r.postal_code, r.phone, r.latitude, r.longitude, r.website
FROM (
    (
        SELECT restaurant_id FROM catalogue_searchrow
        WHERE name %% fold(%(name)s) AND (%(market)s::text IS NULL OR market = %(market)s)
        ORDER BY similarity(name, fold(%(name)s)) DESC, restaurant_id LIMIT %(limit)s
    )
    UNION
    (
        SELECT restaurant_id FROM catalogue_searchrow
        WHERE line1 = fold(%(line1)s) AND (%(market)s::text IS NULL OR market = %(market)s)
        ORDER BY restaurant_id LIMIT %(limit)s
    )
) AS likely JOIN catalogue_restaurant AS r ON r.id = likely.restaurant_id
