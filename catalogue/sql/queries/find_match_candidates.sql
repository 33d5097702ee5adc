-- Blocking: restaurants within the circle, with the phone, or (for a record without position) with the same name.
-- catalogue_searchrow has normalized names, which halves the time, but no closed restaurants and alternative names.
-- MATERIALIZED: without statistics, as during a first import, PostgreSQL would repeat the search for each restaurant.
WITH likely AS MATERIALIZED (
    SELECT record.number, best.id, best.similarity
    FROM unnest(
        %(numbers)s::int[], %(names)s::text[], %(phones)s::text[],
        %(x)s::float8[], %(y)s::float8[], %(reach)s::float8[]
    ) AS given (number, name, phone, x, y, reach)
    CROSS JOIN LATERAL (SELECT given.number, fold(given.name) AS name OFFSET 0) AS record
    CROSS JOIN LATERAL (
        SELECT id, max(similarity) AS similarity FROM (
            (
                SELECT near.restaurant_id AS id, similarity(near.name, record.name) AS similarity
                FROM catalogue_searchrow AS near
                WHERE near.position <@ circle(point(given.x, given.y), given.reach)
                    AND similarity(near.name, record.name) >= %(min_similarity)s
            )
            UNION ALL (
                SELECT near.id, (
                    SELECT max(similarity(fold(alias), record.name)) FROM unnest(near.name || near.alt_names) AS alias
                )
                FROM catalogue_restaurant AS near
                WHERE near.position <@ circle(point(given.x, given.y), given.reach)
                    AND (near.alt_names <> '{}' OR near.status IN ('permanently_closed', 'moved'))
                    AND near.merged_into_id IS NULL AND near.erased_at IS NULL
            )
            UNION ALL (
                SELECT called.id, 1 FROM catalogue_restaurant AS called
                WHERE called.phone = given.phone AND called.merged_into_id IS NULL AND called.erased_at IS NULL
                LIMIT %(limit)s
            )
            UNION ALL (
                SELECT named.restaurant_id, 1 FROM catalogue_searchrow AS named
                WHERE given.x IS NULL AND named.name = record.name AND named.market = %(market)s
                LIMIT %(limit)s
            )
        ) AS found
        WHERE similarity >= %(min_similarity)s
        GROUP BY id ORDER BY similarity DESC, id LIMIT %(limit)s
    ) AS best
)
SELECT likely.number, r.id, r.name, r.alt_names, r.line1, r.postal_code, r.phone, r.latitude, r.longitude, r.website
FROM likely JOIN catalogue_restaurant AS r ON r.id = likely.id
ORDER BY likely.number, likely.similarity DESC, r.id
