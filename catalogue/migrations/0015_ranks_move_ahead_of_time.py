"""A rank moves five minutes after it was decided, so that no walk sees the moment of its commit."""

from importlib import import_module

from django.db import migrations

# Whoever decides commits later, maybe after a search has begun that still saw the old rank. A moment that lies ahead
# tells every page of that search the same, as long as transactions end within five minutes. Rows that somebody else is
# writing are passed over, for he may be waiting for one of ours: the next beat moves them.
RANK = """
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
$$
"""
BEFORE = import_module("catalogue.migrations.0012_rendering").RANK.replace("CREATE", "CREATE OR REPLACE", 1)


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0014_rendering_waits")]
    operations = [migrations.RunSQL(RANK, BEFORE)]
