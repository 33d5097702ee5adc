-- Deletes the API calls of the demo (accounts.demo.rows), and subtracts them from the hourly counts.
-- Returns how many were deleted.
WITH removed AS (
    DELETE FROM accounts_apicall
    WHERE venue_id = %(venue)s AND uuid_extract_version(id) = 8
    RETURNING date_trunc('hour', created_at, 'UTC') AS hour, status
), counted AS (
    SELECT hour, count(*) AS calls, count(*) FILTER (WHERE status BETWEEN 400 AND 499) AS client_errors
    FROM removed GROUP BY hour
), subtracted AS (
    UPDATE accounts_apicallcount AS stored
    SET calls = stored.calls - counted.calls, client_errors = stored.client_errors - counted.client_errors
    FROM counted WHERE stored.venue_id = %(venue)s AND stored.hour = counted.hour
)
SELECT count(*) FROM removed
