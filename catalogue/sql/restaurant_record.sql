-- The public record of a restaurant, in three texts of JSON members (before, hours, after), between which
-- catalogue/field_groups/core.py adds what depends on the time. RestaurantRecord (catalogue/serializers/restaurants.py)
-- documents the fields. The argument is the row itself, so that former versions are rendered, too. Called by render_locked_restaurants, catalogue/read_model/rebuild.py and catalogue/field_groups/as_of.py.
CREATE OR REPLACE FUNCTION restaurant_record(r catalogue_restaurant)
RETURNS TABLE (timezone text, hours_known boolean, before text, hours text, after text, sources varchar[])
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
SELECT
    market.timezone,
    coalesce((valid.hours ->> 'known')::boolean, false),
    public.json_members(row_to_json(before)),
    public.json_members(row_to_json(opening)),
    public.json_members(row_to_json(after)),
    origin.keys
FROM catalogue_market AS market
LEFT JOIN catalogue_cuisine AS cuisine ON cuisine.slug = r.cuisine_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN jsonb_typeof(r.hours -> 'periods') = 'array'
        AND jsonb_typeof(r.hours -> 'special_days') = 'array' THEN r.hours END AS hours
) AS valid
CROSS JOIN LATERAL (
    SELECT
        concat_ws(' ', nullif(r.postal_code, ''), nullif(r.locality, '')) AS town,
        nullif(r.line1, '') AS line1,
        nullif(r.region, '') AS region
) AS place
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(DISTINCT record.source_id ORDER BY record.source_id), '{}') AS keys,
        coalesce(json_agg(json_build_object(
            'source', record.source_id, 'record', record.record, 'license', source.license,
            'updated_at', public.api_timestamp(record.updated_at), 'fields', record.fields
        ) ORDER BY record.source_id, record.record), '[]') AS records
    FROM catalogue_sourcerecord AS record
    JOIN catalogue_source AS source ON source.key = record.source_id
    WHERE record.restaurant_id = r.id
) AS origin
CROSS JOIN LATERAL (
    SELECT
        r.slug, r.name, public.public_id('rst', r.id) AS id, r.alt_names, r.status, r.market_id AS market,
        r.neighborhood,
        json_build_object(
            'line1', r.line1, 'locality', r.locality, 'region', r.region, 'postal_code', r.postal_code,
            'country', r.country,
            'formatted', CASE WHEN concat(place.line1, place.town, place.region) <> ''
                THEN concat_ws(', ', place.line1, nullif(place.town, ''), place.region, r.country) END
        ) AS address,
        CASE WHEN r.latitude IS NOT NULL THEN json_build_object('lat', r.latitude, 'lng', r.longitude) END AS location,
        r.phone, r.phone_verified_at IS NOT NULL AS phone_verified,
        public.api_timestamp(r.phone_verified_at) AS phone_verified_at, r.website, r.menu_url, r.description,
        r.rating, r.review_count, r.price_level, cuisine.label AS cuisine, r.cuisines
) AS before
CROSS JOIN LATERAL (
    SELECT
        coalesce(valid.hours ->> 'timezone', market.timezone) AS timezone,
        coalesce(valid.hours -> 'periods', '[]') AS periods,
        coalesce(valid.hours -> 'special_days', '[]') AS special_days,
        coalesce(valid.hours -> 'display', '[]') AS display,
        valid.hours ->> 'osm' AS osm
) AS opening
CROSS JOIN LATERAL (
    SELECT
        r.attributes, r.external_ids, origin.records AS sources,
        (
            SELECT coalesce(json_agg(json_build_object(
                'source', source.key, 'text', source.attribution, 'license', source.license
            ) ORDER BY source.key), '[]')
            FROM catalogue_source AS source WHERE source.key = ANY (origin.keys)
        ) AS attribution,
        public.api_timestamp(r.verified_at) AS verified_at, public.api_timestamp(r.updated_at) AS updated_at, r.version
) AS after
WHERE market.slug = r.market_id
$$;
