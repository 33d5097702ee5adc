-- The columns whose change makes no new version of a restaurant: the version itself, what only staff see or the database
-- computes, and the review figures other than their number and the rating.
-- Called by increment_restaurant_version and on_restaurant_update.
CREATE OR REPLACE FUNCTION unversioned_columns() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{version,updated_at,locked_fields,position,star_counts,review_facets}'::text[];
