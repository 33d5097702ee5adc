-- Format a moment as the API does: UTC, to the second, with a Z. Called by restaurant_record and the queries of exports.
CREATE OR REPLACE FUNCTION api_timestamp(at timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
