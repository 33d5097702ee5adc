-- Numeric rounds half away from zero: 4.25 becomes 4.3. A review without text has no language.
SELECT
    wanted.id,
    coalesce(sum(grouped.reviews), 0)::integer AS reviews,
    round(sum(grouped.ratings)::numeric / sum(grouped.reviews), 1) AS rating,
    ARRAY[
        coalesce(sum(grouped.ones), 0), coalesce(sum(grouped.twos), 0), coalesce(sum(grouped.threes), 0),
        coalesce(sum(grouped.fours), 0), coalesce(sum(grouped.fives), 0)
    ]::integer[] AS stars,
    jsonb_build_object(
        'by_lang', coalesce(jsonb_object_agg(grouped.lang, grouped.reviews) FILTER (WHERE grouped.lang <> ''), '{}'),
        'with_photos', coalesce(sum(grouped.with_photos), 0),
        'with_reply', coalesce(sum(grouped.with_reply), 0)
    ) AS facets
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
LEFT JOIN (
    SELECT
        restaurant_id, lang, count(*) AS reviews, sum(coalesce(rating, stars)) AS ratings,
        count(*) FILTER (WHERE stars = 1) AS ones, count(*) FILTER (WHERE stars = 2) AS twos,
        count(*) FILTER (WHERE stars = 3) AS threes, count(*) FILTER (WHERE stars = 4) AS fours,
        count(*) FILTER (WHERE stars = 5) AS fives,
        count(*) FILTER (WHERE photo_count > 0) AS with_photos, count(owner_replied_at) AS with_reply
    FROM catalogue_review WHERE restaurant_id = ANY (%(ids)s) GROUP BY restaurant_id, lang
) AS grouped ON grouped.restaurant_id = wanted.id
GROUP BY wanted.id
