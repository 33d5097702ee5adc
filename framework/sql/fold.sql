-- Fold text for search: lower case, without accents and apostrophes ("kings cross" finds "King's Cross").
-- unaccent() makes curly apostrophes straight first. It is only STABLE, because its dictionary could be edited; indexes and
-- generated columns need IMMUTABLE. Called by them, by searches and by importers.
CREATE OR REPLACE FUNCTION fold(words text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT replace(lower(public.unaccent('public.unaccent', words)), '''', '') $$;
