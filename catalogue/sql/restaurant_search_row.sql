-- The row of catalogue_searchrow that lists and searches read, with the restaurant's card as JSON members.
-- Hit (catalogue/serializers/search.py) documents the fields of the card. The document ends with the names of
-- dishes that its insights mention, which weigh less (D) than the restaurant's own words.
-- Called by render_locked_restaurants and catalogue/read_model/rebuild.py.
CREATE OR REPLACE FUNCTION restaurant_search_row(r catalogue_restaurant)
RETURNS TABLE (timezone text, is_shut boolean, stars integer, tags varchar[], neighborhood text, name text, line1 text,
    document tsvector, sources varchar[], card text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT
    market.timezone,
    r.status = 'temporarily_closed',
    (coalesce(r.rating, 0) * 10)::integer,
    ARRAY(
        -- Limited access does not suffice for who needs it.
        SELECT tag::varchar FROM (
            SELECT key AS tag FROM jsonb_each(r.attributes)
            WHERE value NOT IN ('false', '"no"', '"limited"', 'null', '""')
            -- For a degree: `wheelchair:limited`, `diet_vegan:only`.
            UNION ALL SELECT key || ':' || (r.attributes ->> key) FROM jsonb_each(r.attributes)
            WHERE jsonb_typeof(value) = 'string' AND key <> 'kind' AND value NOT IN ('"no"', '"yes"', '""')
                -- Longer texts are no degrees, and fit into no tag.
                AND length(key || ':' || (r.attributes ->> key)) <= 40
            -- For the parameters `kind` and `kind_not`.
            UNION ALL SELECT 'kind_' || (r.attributes ->> 'kind') WHERE jsonb_typeof(r.attributes -> 'kind') = 'string'
        ) AS tags ORDER BY tag
    ),
    public.fold(r.neighborhood),
    left(public.fold(r.name), 200),
    left(public.fold(r.line1), 200),
    public.restaurant_document(r.name, r.alt_names, r.cuisines, r.neighborhood) || setweight(to_tsvector(
        'pg_catalog.simple', public.fold(coalesce((
            SELECT string_agg(dish ->> 'name', ' ')
            FROM catalogue_insight AS insight, jsonb_path_query(insight.detail, '$.dishes[*]') AS dish
            WHERE insight.restaurant_id = r.id AND NOT insight.hidden
        ), ''))
    ), 'D'),
    ARRAY(
        SELECT DISTINCT record.source_id FROM catalogue_sourcerecord AS record
        WHERE record.restaurant_id = r.id ORDER BY record.source_id
    ),
    public.json_members(row_to_json(card))
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT r.slug, r.name, r.neighborhood, r.market_id AS market, r.rating, r.review_count, r.price_level,
        cuisine.label AS cuisine, r.cuisines, r.phone,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location
) AS card
WHERE market.slug = r.market_id
$$;
