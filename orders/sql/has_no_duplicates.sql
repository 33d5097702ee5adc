-- Whether no two elements are equal. For check constraints, which cannot contain subqueries.
CREATE OR REPLACE FUNCTION has_no_duplicates(elements text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN cardinality(elements) = (SELECT count(DISTINCT element) FROM unnest(elements) AS element);
