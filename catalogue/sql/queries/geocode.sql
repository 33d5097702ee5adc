-- A candidate is a name and the market of its place: the whole text, and what precedes the name of a city of ours in
-- it. `named` are the whole text with the name of each city: what many cities have is often named so, as Berlin Central
-- Station. Each step runs only if the steps before it found nothing; PostgreSQL skips a step whose NOT EXISTS is false. The
-- exact name of a restaurant comes before a prefix and a misspelling of a landmark's name, because it is more certain.
-- Texts under three letters are prefixes of too many names, and comparing trigrams of texts over sixty takes too long.
-- An edit distance of one letter in five, at most two, scores higher than any trigram similarity. Similar names resolve
-- only from two thirds on, and only with the same house number; the others are suggestions. The trigram index serves
-- LIKE, whose pattern is known at execution, but not ^@. Restaurants are looked up in catalogue_searchrow, which stores
-- folded names.
WITH split AS MATERIALIZED (
    SELECT DISTINCT fold(part.head) AS name, coalesce(%(market)s, city.market) AS market
    FROM unnest(%(heads)s::text[], %(tails)s::text[]) AS part (head, tail) CROSS JOIN LATERAL (
        SELECT l.market_id AS market FROM catalogue_landmarkname n JOIN catalogue_landmark l ON l.id = n.landmark_id
        WHERE n.folded = fold(part.tail) AND l.kind = 'city' AND l.market_id IS NOT NULL
        UNION SELECT m.slug FROM catalogue_market m WHERE fold(part.tail) IN (m.slug, fold(m.name))
    ) AS city
    WHERE fold(part.head) <> ''
), candidate AS MATERIALIZED (
    SELECT fold(%(near)s) AS name, %(market)s::text AS market, true AS is_whole,
        NOT EXISTS (SELECT FROM split) AS is_specific
    WHERE fold(%(near)s) <> ''
    UNION ALL
    SELECT name, market, false, true FROM split
), exact AS MATERIALIZED (
    SELECT n.landmark_id, 1.0::float8 AS score
    FROM candidate JOIN catalogue_landmarkname n ON n.folded = candidate.name
        JOIN catalogue_landmark l ON l.id = n.landmark_id
    WHERE candidate.market IS NULL OR l.market_id = candidate.market
    UNION
    SELECT n.landmark_id, 1.0::float8
    FROM unnest(%(named)s::text[], %(named_markets)s::text[]) AS named (name, market)
        JOIN catalogue_landmarkname n ON n.folded = named.name
        JOIN catalogue_landmark l ON l.id = n.landmark_id AND l.market_id = named.market
), prefixed AS MATERIALIZED (
    SELECT n.landmark_id, candidate.is_whole,
        CASE WHEN n.folded ^@ (candidate.name || ' ') THEN 1.0 ELSE 0.5 END::float8 AS score
    FROM candidate JOIN catalogue_landmarkname n
            ON n.folded LIKE regexp_replace(candidate.name, '([\\%%_])', '\\\1', 'g') || '%%'
        JOIN catalogue_landmark l ON l.id = n.landmark_id
    WHERE char_length(candidate.name) >= 3 AND (candidate.market IS NULL OR l.market_id = candidate.market)
      AND NOT EXISTS (SELECT FROM exact)
), restaurants AS MATERIALIZED (
    SELECT r.restaurant_id AS id, max(r.review_count) AS weight
    FROM candidate CROSS JOIN LATERAL (
        (
            SELECT restaurant_id, market, review_count FROM catalogue_searchrow
            WHERE name = candidate.name AND position IS NOT NULL
                AND (candidate.market IS NULL OR market = candidate.market)
        )
        UNION ALL (
            SELECT restaurant_id, market, review_count FROM catalogue_searchrow
            WHERE line1 IN (candidate.name, CASE WHEN candidate.is_specific THEN fold(%(line1)s) END)
                AND position IS NOT NULL AND (candidate.market IS NULL OR market = candidate.market)
        )
    ) AS r
    WHERE NOT EXISTS (SELECT FROM exact) AND NOT EXISTS (SELECT FROM prefixed WHERE is_whole AND score = 1)
    GROUP BY r.restaurant_id, r.market
    -- The best known of each market comes before the others of a chain.
    ORDER BY row_number() OVER (PARTITION BY r.market ORDER BY max(r.review_count) DESC, r.restaurant_id) > 1, weight DESC, id
    LIMIT %(max_rows)s
), fuzzy AS MATERIALIZED (
    SELECT n.landmark_id, score, (
            (edits <= max_edits AND (is_word_like OR words <> names)) OR (score > 0.66 AND candidate.is_specific AND is_word_like)
        )
        AND regexp_split_to_array(n.folded, '[^0-9]+') @> numbers
        AND (candidate.market IS NULL OR l.market_id = candidate.market) AS resolves
    FROM candidate JOIN catalogue_landmarkname n ON candidate.name <%% n.folded OR candidate.name %% n.folded
        JOIN catalogue_landmark l ON l.id = n.landmark_id
        CROSS JOIN LATERAL (SELECT levenshtein_less_equal(candidate.name, n.folded, 2),
            least(char_length(candidate.name) / 5, 2),
            ARRAY(SELECT unnest(regexp_matches(candidate.name, '[0-9]+', 'g')))
        ) AS compared (edits, max_edits, numbers)
        -- Each word resembles a word of the name: "upper east side" is not Upper West Side.
        CROSS JOIN LATERAL (SELECT
            NOT EXISTS (SELECT FROM unnest(string_to_array(candidate.name, ' ')) AS word WHERE NOT EXISTS (
                SELECT FROM unnest(string_to_array(n.folded, ' ')) AS other
                WHERE levenshtein_less_equal(word, other, 2) <= CASE
                    WHEN char_length(word) >= 6 AND left(word, 1) = left(other, 1) THEN 2
                    ELSE least((char_length(word) + 1) / 5, 2) END
            )),
            array_length(string_to_array(candidate.name, ' '), 1), array_length(string_to_array(n.folded, ' '), 1)
        ) AS worded (is_word_like, words, names)
        CROSS JOIN LATERAL (SELECT CASE WHEN edits <= max_edits THEN 2.0 - edits / 10.0
            ELSE greatest(word_similarity(candidate.name, n.folded), similarity(candidate.name, n.folded)) END::float8
        ) AS measured (score)
    WHERE char_length(candidate.name) BETWEEN 3 AND 60
      AND NOT EXISTS (SELECT FROM exact) AND NOT EXISTS (SELECT FROM prefixed) AND NOT EXISTS (SELECT FROM restaurants)
), matched AS (
    SELECT landmark_id, max(score) AS score, resolves, step
    FROM (
        SELECT landmark_id, score, true AS resolves, 'exact' AS step FROM exact
        UNION ALL SELECT landmark_id, score, true, 'prefix' FROM prefixed WHERE NOT EXISTS (SELECT FROM restaurants)
        UNION ALL SELECT landmark_id, score, resolves, 'fuzzy' FROM fuzzy
    ) AS each
    GROUP BY landmark_id, resolves, step
)
SELECT place.*, m.name, m.country FROM (
    SELECT l.id, l.name, l.kind, l.market_id, l.latitude, l.longitude, resolves, score,
           l.market_id IS NOT NULL AS in_market, l.prominence AS weight, step
    FROM matched JOIN catalogue_landmark l ON l.id = matched.landmark_id
    UNION ALL
    SELECT r.id, r.name, 'restaurant', r.market_id, r.latitude, r.longitude, true, 1, true, restaurants.weight, 'exact'
    FROM restaurants JOIN catalogue_restaurant r ON r.id = restaurants.id
) AS place LEFT JOIN catalogue_market m ON m.slug = place.market_id
ORDER BY resolves DESC, resolves AND in_market DESC, score DESC, in_market DESC,
    row_number() OVER (PARTITION BY resolves, score, market_id ORDER BY weight DESC, place.name, place.id) > 1, weight DESC, place.name, place.id
LIMIT %(max_rows)s
