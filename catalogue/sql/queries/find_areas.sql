-- The center of the places whose address states this neighborhood, postal code or street; a street stands before or after
-- its number: "vesterbrogade 3", "12 main street".
WITH given AS (
    SELECT fold(%(name)s) AS name, upper(replace(%(name)s, ' ', '')) AS code
), member AS (
    SELECT 'neighborhood' AS kind, r.market, r.restaurant_id
    FROM given, catalogue_searchrow AS r
    WHERE r.document @@ plainto_tsquery('simple', given.name) AND r.neighborhood = given.name
    UNION ALL
    SELECT 'postal_code', r.market_id, r.id
    FROM given, catalogue_restaurant AS r
    WHERE given.code ~ '[0-9]' AND upper(replace(r.postal_code, ' ', '')) = given.code
    UNION ALL
    SELECT 'street', r.market, r.restaurant_id
    FROM given, catalogue_searchrow AS r
    WHERE char_length(given.name) >= %(min_length)s AND given.name !~ '^[0-9 ]+$'
        AND btrim(regexp_replace(r.line1, '\m[0-9]+[a-z]?\M', '', 'g'), ' ,') = given.name
)
SELECT member.kind, member.market, avg(r.latitude), avg(r.longitude),
    mode() WITHIN GROUP (ORDER BY CASE member.kind
        WHEN 'neighborhood' THEN r.neighborhood
        WHEN 'postal_code' THEN r.postal_code
        ELSE btrim(regexp_replace(r.line1, '\m[0-9]+[A-Za-z]?\M', '', 'g'), ' ,')
    END), count(*), m.name, m.country
FROM member JOIN catalogue_restaurant AS r ON r.id = member.restaurant_id
    JOIN catalogue_market AS m ON m.slug = member.market
WHERE r.latitude IS NOT NULL AND r.status NOT IN ('permanently_closed', 'moved')
    AND (%(market)s::text IS NULL OR member.market = %(market)s)
GROUP BY member.kind, member.market, m.slug
ORDER BY member.kind, count(*) DESC, member.market LIMIT %(max_rows)s
