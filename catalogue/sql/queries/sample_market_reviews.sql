-- Reads the newest reviews of a fixed sample of a market's restaurants.
SELECT review.text, review.lang FROM (
    SELECT id FROM catalogue_restaurant
    WHERE market_id = %(market)s AND review_count >= %(min_reviews)s
    ORDER BY hashtext(id::text), id LIMIT %(restaurants)s
) AS place CROSS JOIN LATERAL (
    SELECT text, lang FROM catalogue_review
    WHERE restaurant_id = place.id ORDER BY created_at DESC, id DESC LIMIT %(each)s
) AS review
