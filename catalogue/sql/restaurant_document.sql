-- The words by which full-text search finds a restaurant: names weigh A, cuisines B, the neighborhood C.
-- Called by restaurant_search_row.
CREATE OR REPLACE FUNCTION restaurant_document(name text, alt_names text[], cuisines text[], neighborhood text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT setweight(to_tsvector('pg_catalog.simple', public.fold(name || ' ' || array_to_string(alt_names, ' '))), 'A')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(array_to_string(cuisines, ' '))), 'B')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(coalesce(neighborhood, ''))), 'C')
$$;
