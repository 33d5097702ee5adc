-- Move restaurants whose rating or number of reviews has changed to their new rank in lists; ids NULL means all.
-- A rank changes at most once an hour, the lifetime of a cursor; a later run changes what is too early now.
-- The new rank holds from five minutes after `at`, so that no walk through pages starts between the decision and its commit and
-- sees both ranks; this is safe while transactions end within five minutes. Rows that another transaction has locked are
-- skipped, because it may wait for one of ours; the next run changes them.
-- Called by render_locked_restaurants and catalogue/search/rank_refresh.py.
CREATE OR REPLACE FUNCTION rank_restaurants(ids uuid[], at timestamptz) RETURNS void
LANGUAGE sql
AS $$
UPDATE catalogue_searchrow AS held
SET former_stars = held.rank_stars, former_reviews = held.rank_reviews, ranked_at = at + interval '5 minutes',
    rank_stars = (coalesce(held.rating, 0) * 10)::integer, rank_reviews = held.review_count
FROM (
    SELECT r.restaurant_id FROM catalogue_searchrow AS r
    WHERE (ids IS NULL OR r.restaurant_id = ANY (ids)) AND r.ranked_at < at - interval '1 hour'
        AND (r.rank_stars, r.rank_reviews) IS DISTINCT FROM ((coalesce(r.rating, 0) * 10)::integer, r.review_count)
    FOR NO KEY UPDATE SKIP LOCKED
) AS due
WHERE held.restaurant_id = due.restaurant_id
$$;
