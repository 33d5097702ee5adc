-- The event, and a delivery for each endpoint that subscribes to it: of the venue, or of all venues of the account
-- except sandboxes. The ids of deliveries are UUIDv7 of PostgreSQL 18, in the order of ours. KEY SHARE keeps the
-- endpoints until the commit; an endpoint that another transaction is deleting is skipped, so that orders neither wait
-- nor fail.
    event AS (
        INSERT INTO accounts_event (id, venue_id, account_id, type, subject, actor, record, created_at)
        SELECT {event}, %(venue)s, %(account)s, %(type)s, {subject}, %(actor)s, {record}, %(now)s {source}
        RETURNING id, type, created_at
    ), endpoint AS (
        SELECT id FROM accounts_webhookendpoint
        WHERE {subscribers} AND disabled_at IS NULL AND (types = '{{}}' OR %(type)s = ANY(types))
        FOR KEY SHARE SKIP LOCKED
    ), delivery AS (
        INSERT INTO accounts_webhookdelivery
            (id, event_id, endpoint_id, state, attempts, next_attempt_at, last_response, last_error, created_at)
        SELECT uuidv7(), event.id, endpoint.id, 'pending', 0, event.created_at, '', '', event.created_at
        FROM event CROSS JOIN endpoint
        RETURNING id
    )
