-- Rows without events, rows that differ from their last event, and events without a row (accounts.consistency_checks).
-- The last event is the one with the highest version: two events may have the same time.
SELECT subject, 'the event ' || type || ' of ' || created_at || ' has no row'
FROM accounts_event AS event
WHERE type LIKE %(record_type)s || '.%%'
    AND NOT EXISTS (SELECT FROM {table} AS rec WHERE rec.id = event.subject AND rec.venue_id = event.venue_id)
    AND subject IS NOT NULL
UNION ALL
SELECT rec.id, 'it has no creation event'
FROM {table} AS rec
WHERE rec.created_at >= %(since)s + {ahead} AND NOT EXISTS (
    SELECT FROM accounts_event WHERE subject = rec.id AND type = %(record_type)s || '.created'
)
UNION ALL
SELECT rec.id, 'it is ' || rec.status || ' with version ' || rec.version || ', its last event is '
    || coalesce(last.status, 'missing') || ' with version ' || coalesce(last.version, 0)
FROM {table} AS rec
CROSS JOIN LATERAL (
    SELECT record ->> 'status' AS status, (record ->> 'version')::bigint AS version
    FROM accounts_event WHERE subject = rec.id ORDER BY (record ->> 'version')::bigint DESC NULLS LAST LIMIT 1
) AS last
WHERE rec.updated_at >= %(since)s + {ahead}
    AND (last.status, last.version) IS DISTINCT FROM (rec.status::text, rec.version::bigint)
