-- Reads the newest reviews of each restaurant from their index.
SELECT place.id, review.id, review.stars, review.text, review.lang, review.created_at
FROM unnest(%s::uuid[]) AS place (id) CROSS JOIN LATERAL (
    SELECT id, stars, text, lang, created_at FROM catalogue_review
    WHERE restaurant_id = place.id ORDER BY created_at DESC, id DESC LIMIT %s
) AS review
ORDER BY place.id, review.created_at DESC, review.id DESC
