-- A request that was recorded a moment ago takes no lock, and a locked restaurant is skipped.
INSERT INTO catalogue_insightdemand AS demand (restaurant_id, request_count, first_requested_at, last_requested_at)
SELECT id, 1, %(now)s, %(now)s FROM (
    SELECT id FROM catalogue_restaurant WHERE id = %(restaurant)s AND NOT EXISTS (
        SELECT FROM catalogue_insightdemand WHERE restaurant_id = %(restaurant)s AND last_requested_at > %(since)s
    )
    FOR KEY SHARE SKIP LOCKED
) AS restaurant
ON CONFLICT (restaurant_id) DO UPDATE
SET request_count = demand.request_count + 1, last_requested_at = excluded.last_requested_at
WHERE demand.last_requested_at <= %(since)s
