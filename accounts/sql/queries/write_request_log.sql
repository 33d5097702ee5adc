-- Stores entries of the request log, and adds them and the calls without an entry to the hourly counts
-- (accounts.request_log.writer). One statement, so one transaction: after a flush that only seemed to fail, entries are
-- not counted again. Hours are written in the order of their key, so that two processes cannot deadlock.
WITH written AS (
    INSERT INTO accounts_apicall (
        id, venue_id, key_id, method, path, query, status, error_code, duration_ms, address, user_agent, body,
        answer, created_at
    )
    SELECT id, venue, key, method, path, query, status, code, ms, address::inet, agent, body, answer, at
    FROM unnest(
        %s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::int[], %s::text[], %s::int[],
        %s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[]
    ) AS entry (id, venue, key, method, path, query, status, code, ms, address, agent, body, answer, at)
    ON CONFLICT (id) DO NOTHING
    RETURNING venue_id, status, created_at
), counted AS (
    SELECT venue_id, date_trunc('hour', created_at, 'UTC') AS hour, status, 1 AS calls FROM written
    UNION ALL
    SELECT * FROM unnest(%s::uuid[], %s::timestamptz[], %s::int[], %s::int[])
)
INSERT INTO accounts_apicallcount AS stored (venue_id, hour, calls, client_errors, server_errors)
SELECT
    venue_id, hour, sum(calls), coalesce(sum(calls) FILTER (WHERE status BETWEEN 400 AND 499), 0),
    coalesce(sum(calls) FILTER (WHERE status >= 500), 0)
FROM counted GROUP BY venue_id, hour ORDER BY venue_id, hour
ON CONFLICT (venue_id, hour) DO UPDATE
SET calls = stored.calls + excluded.calls, client_errors = stored.client_errors + excluded.client_errors,
    server_errors = stored.server_errors + excluded.server_errors
