-- Write the read model of these restaurants (catalogue_record, catalogue_searchrow, catalogue_kitchen), or delete it where
-- they were merged, erased or closed. The caller has locked the restaurants. Rows are written in the order of their keys,
-- so that two writers cannot deadlock. Called by render_restaurants.
CREATE OR REPLACE FUNCTION render_locked_restaurants(ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM catalogue_record WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    INSERT INTO catalogue_record AS held (restaurant_id, slug, status, timezone, hours_known, before, hours, after, sources)
    SELECT r.id, r.slug, r.status, made.timezone, made.hours_known, made.before, made.hours, made.after, made.sources
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_record(r) AS made
    WHERE r.id = ANY (ids) AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET slug = excluded.slug, status = excluded.status,
        timezone = excluded.timezone, hours_known = excluded.hours_known, before = excluded.before,
        hours = excluded.hours, after = excluded.after, sources = excluded.sources;

    DELETE FROM catalogue_kitchen USING unnest(ids) AS changed (id)
    WHERE restaurant_id = changed.id AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id AND cuisine = ANY (r.cuisines)
            AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    DELETE FROM catalogue_searchrow WHERE restaurant_id = ANY (ids) AND NOT EXISTS (
        SELECT FROM catalogue_restaurant r
        WHERE r.id = restaurant_id
            AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    );
    INSERT INTO catalogue_searchrow AS held (restaurant_id, market, position, latitude, longitude, timezone, is_shut,
        cuisines, price_level, rating, review_count, rank_stars, rank_reviews, former_stars, former_reviews, ranked_at,
        tags, neighborhood, name, line1, document, sources, card)
    SELECT r.id, r.market_id, r.position, r.latitude, r.longitude, made.timezone, made.is_shut, r.cuisines,
        r.price_level, r.rating, r.review_count, made.stars, r.review_count, made.stars, r.review_count, 'epoch',
        made.tags, made.neighborhood, made.name, made.line1, made.document, made.sources, made.card
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL restaurant_search_row(r) AS made
    WHERE r.id = ANY (ids)
        AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id
    ON CONFLICT (restaurant_id) DO UPDATE SET market = excluded.market, position = excluded.position,
        latitude = excluded.latitude, longitude = excluded.longitude, timezone = excluded.timezone,
        is_shut = excluded.is_shut, cuisines = excluded.cuisines, price_level = excluded.price_level,
        rating = excluded.rating, review_count = excluded.review_count, tags = excluded.tags,
        neighborhood = excluded.neighborhood, name = excluded.name, line1 = excluded.line1,
        document = excluded.document, sources = excluded.sources, card = excluded.card;
    PERFORM rank_restaurants(ids, clock_timestamp());
    INSERT INTO catalogue_kitchen AS held (restaurant_id, cuisine, position, price_level, rating)
    SELECT r.id, kind.cuisine, r.position, r.price_level, r.rating
    FROM catalogue_restaurant AS r CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.cuisines) AS cuisine) AS kind
    WHERE r.id = ANY (ids)
        AND r.status NOT IN ('permanently_closed', 'moved') AND r.merged_into_id IS NULL AND r.erased_at IS NULL
    ORDER BY r.id, kind.cuisine
    ON CONFLICT (restaurant_id, cuisine) DO UPDATE SET position = excluded.position,
        price_level = excluded.price_level, rating = excluded.rating
    WHERE (held.position IS NOT NULL, held.position[0], held.position[1], held.price_level, held.rating)
        IS DISTINCT FROM (excluded.position IS NOT NULL, excluded.position[0], excluded.position[1],
            excluded.price_level, excluded.rating);
END
$$;
