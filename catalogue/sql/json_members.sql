-- The members of a JSON object without its braces: "a":1,"b":2 of {"a":1,"b":2}, so that a reader can add more.
-- Called by restaurant_record and restaurant_search_row.
CREATE OR REPLACE FUNCTION json_members(object json) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(object::text, 2, length(object::text) - 2);
