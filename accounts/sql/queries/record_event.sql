-- The event; a delivery for each endpoint that subscribes to it, of the venue or of all venues of the account except
-- sandboxes; and an alert for each subscription of a member to events of this kind. The ids are UUIDv7 of PostgreSQL 18,
-- in the order of ours. KEY SHARE keeps endpoints and subscriptions until the commit; one that another transaction is
-- deleting is skipped, so that orders neither wait nor fail.
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
    ), alert AS (
        INSERT INTO accounts_alert (id, event_id, subscription_id, state)
        SELECT uuidv7(), event.id, subscription.id, 'pending'
        FROM event CROSS JOIN (
            SELECT id FROM accounts_alertsubscription
            WHERE venue_id = %(venue)s AND %(alert)s = ANY(kinds)
            FOR KEY SHARE SKIP LOCKED
        ) AS subscription
    )
