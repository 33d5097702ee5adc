-- Adds the API calls of the demo (accounts.demo.rows) to the hourly counts, in the order of write_request_log.sql.
INSERT INTO accounts_apicallcount AS stored (venue_id, hour, calls, client_errors, server_errors)
SELECT
    venue_id, date_trunc('hour', created_at, 'UTC') AS hour, count(*),
    count(*) FILTER (WHERE status BETWEEN 400 AND 499), 0
FROM accounts_apicall
WHERE venue_id = %(venue)s AND uuid_extract_version(id) = 8
GROUP BY venue_id, hour ORDER BY hour
ON CONFLICT (venue_id, hour) DO UPDATE
SET calls = stored.calls + excluded.calls, client_errors = stored.client_errors + excluded.client_errors
